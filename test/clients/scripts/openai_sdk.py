"""OpenAI's SDK: a streamed loop over chat completions, and the tool runner of the Responses API."""

import json

from openai import AuthenticationError, OpenAI
from openai.lib.responses_tool_runner import RegisteredFunction, ResponsesToolRunner
from task_tools import call_tool, finish, function_of, model, must_refuse, prompt, speaks, token, tools, url


def client(key):
    return OpenAI(api_key=key, base_url=f"{url}/v1")


def chat(key):
    messages = [{"role": "user", "content": prompt}]
    offered = [{"type": "function", "function": function_of(tool)} for tool in tools]
    used = 0
    while True:
        with client(key).chat.completions.stream(
            model=model, messages=messages, tools=offered, stream_options={"include_usage": True}
        ) as stream:
            answer = stream.get_final_completion()
        used += answer.usage.total_tokens
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content, used
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
        for call in message.tool_calls:
            output = call_tool(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


def responses(key):
    functions = [
        RegisteredFunction(
            {"type": "function", "strict": True, **function_of(tool)}, lambda given, tool=tool: tool(**given)
        )
        for tool in tools
    ]
    answer = ResponsesToolRunner(functions=functions).run(
        client(key), {"model": model, "input": [{"role": "user", "content": prompt}]}, stream=True
    )
    return answer.output_text, answer.usage.total_tokens


if speaks == "chat":
    must_refuse(chat, AuthenticationError)
    finish(*chat(token))
else:
    # The runner hides the error that stopped it.
    must_refuse(lambda key: client(key).responses.create(model=model, input=prompt), AuthenticationError)
    finish(*responses(token))
