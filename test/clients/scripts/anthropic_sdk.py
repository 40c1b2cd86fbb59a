"""The tool runner of Anthropic's SDK."""

from anthropic import Anthropic, AuthenticationError, beta_tool
from task_tools import finish, model, must_refuse, prompt, token, tools, url


def run(key):
    runner = Anthropic(api_key=key, base_url=url).beta.messages.tool_runner(
        model=model,
        max_tokens=1000,
        stream=True,
        messages=[{"role": "user", "content": prompt}],
        tools=[beta_tool(tool) for tool in tools],
    )
    for stream in runner:
        last = stream.get_final_message()
    return "".join(block.text for block in last.content if block.type == "text"), last.usage.output_tokens


must_refuse(run, AuthenticationError)
finish(*run(token))
