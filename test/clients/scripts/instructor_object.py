"""instructor: an object that matches a schema, which the model returns through a forced tool call."""

import anthropic
import instructor
import openai
from pydantic import BaseModel
from task_tools import finish, model, must_refuse, read_file, speaks, token, url


class Note(BaseModel):
    """What a note says."""

    password: str


def client_of(key):
    if speaks == "Messages":
        return instructor.from_anthropic(anthropic.Anthropic(api_key=key, base_url=url))
    return instructor.from_openai(openai.OpenAI(api_key=key, base_url=f"{url}/v1"))


def run(key):
    note, answer = client_of(key).create_with_completion(
        model=model,
        max_tokens=1000,
        response_model=Note,
        messages=[{"role": "user", "content": f"What does this note say?\n{read_file('note.txt')}"}],
    )
    usage = answer.usage
    return note.password, usage.output_tokens if speaks == "Messages" else usage.total_tokens


# The library wraps the error of the SDK that it uses.
must_refuse(run, anthropic.AuthenticationError if speaks == "Messages" else openai.AuthenticationError)
finish(*run(token))
