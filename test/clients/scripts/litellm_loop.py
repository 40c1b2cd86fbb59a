"""LiteLLM: a streamed loop with its one function for all services."""

import json
import os

# Otherwise, it would fetch a list of prices from another server.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from task_tools import call_tool, finish, function_of, model, must_refuse, prompt, speaks, token, tools, url

provider, base = {
    "chat": ("openai", f"{url}/v1"),
    "Responses": ("openai/responses", f"{url}/v1"),
    "Messages": ("anthropic", url),
    "Gemini": ("gemini", f"{url}/v1beta"),
}[speaks]


def run(key):
    messages = [{"role": "user", "content": prompt}]
    offered = [{"type": "function", "function": function_of(tool)} for tool in tools]
    used = 0
    while True:
        stream = litellm.completion(
            model=f"{provider}/{model}",
            api_key=key,
            api_base=base,
            messages=messages,
            tools=offered,
            stream=True,
            stream_options={"include_usage": True},
        )
        answer = litellm.stream_chunk_builder(list(stream), messages=messages)
        used += answer.usage.total_tokens
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content, used
        messages.append(message.model_dump())
        for call in message.tool_calls:
            output = call_tool(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


must_refuse(run, litellm.AuthenticationError)
finish(*run(token))
