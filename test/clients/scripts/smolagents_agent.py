"""smolagents: an agent that calls tools."""

import openai
from smolagents import LogLevel, OpenAIServerModel, ToolCallingAgent, tool
from task_tools import finish, model, must_refuse, prompt, token, tools, url


def run(key):
    server = OpenAIServerModel(model_id=model, api_key=key, api_base=f"{url}/v1")
    agent = ToolCallingAgent(tools=[tool(each) for each in tools], model=server, verbosity_level=LogLevel.OFF)
    result = agent.run(prompt, return_full_result=True)
    return result.output, result.token_usage.total_tokens


# The library wraps the error of the SDK that it uses.
must_refuse(run, openai.AuthenticationError)
finish(*run(token))
