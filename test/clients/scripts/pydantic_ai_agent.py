"""Pydantic AI: an agent."""

from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from task_tools import finish, model, must_refuse, prompt, speaks, token, tools, url


def model_of(key):
    if speaks == "Messages":
        return AnthropicModel(model, provider=AnthropicProvider(api_key=key, base_url=url))
    if speaks == "Gemini":
        return GoogleModel(model, provider=GoogleProvider(api_key=key, base_url=url))
    kind = OpenAIResponsesModel if speaks == "Responses" else OpenAIChatModel
    return kind(model, provider=OpenAIProvider(api_key=key, base_url=f"{url}/v1"))


def run(key):
    result = Agent(model_of(key), tools=tools).run_sync(prompt)
    return result.output, result.usage.total_tokens


# The library has one class for all refusals.
must_refuse(run, ModelHTTPError, status_code=401)
finish(*run(token))
