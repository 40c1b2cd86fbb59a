"""Tools that the Python scripts give to a model, and checks that all of the scripts use."""

import inspect
import os
import subprocess
from pathlib import Path

url = os.environ["TASK_URL"]
token = os.environ["TASK_TOKEN"]
model = os.environ["TASK_MODEL"]
prompt = os.environ["TASK_PROMPT"]
speaks = os.environ["TASK_SPEAKS"]


def read_file(path: str) -> str:
    """Reads a file.

    Args:
        path: Its path.
    """
    return Path(path).read_text(encoding="utf-8")


def edit_file(path: str, old_string: str, new_string: str) -> str:
    """Replaces a text in a file.

    Args:
        path: Its path.
        old_string: What is there.
        new_string: What is wanted.
    """
    text = Path(path).read_text(encoding="utf-8")
    Path(path).write_text(text.replace(old_string, new_string), encoding="utf-8")
    return "done"


def bash(command: str) -> str:
    """Runs a command.

    Args:
        command: The command.
    """
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout


tools = [read_file, edit_file, bash]


def function_of(tool):
    """A tool as a function of the chat API: its name, what it does, and a schema of its input."""
    names = list(inspect.signature(tool).parameters)
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    return {"name": tool.__name__, "description": inspect.getdoc(tool), "parameters": schema}


def call_tool(name, given):
    """The output of the tool with this name for this input."""
    return next(tool for tool in tools if tool.__name__ == name)(**given)


def finish(text, used):
    """Prints the last text. Raises an error if no usage was reported."""
    print(text)
    if not used or used <= 0:
        raise RuntimeError("no usage was told")


def must_refuse(ask, error, **fields):
    """Calls with an unknown token. This must raise an error of this class with these fields, or one caused by such an error."""
    try:
        ask("sk-" + "0" * 48)
    except Exception as caught:
        cause = caught
        while cause and not isinstance(cause, error):
            cause = cause.__cause__
        if not cause:
            raise
        for name, value in fields.items():
            if getattr(cause, name) != value:
                raise RuntimeError(f"the error has {name} {getattr(cause, name)!r}") from caught
        return
    raise RuntimeError("a wrong token was taken")
