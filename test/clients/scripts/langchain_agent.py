"""LangChain: an agent made with create_agent, streamed."""

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.exceptions import ModelAuthenticationError
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from task_tools import finish, model, must_refuse, prompt, speaks, token, tools, url


def model_of(key):
    if speaks == "Messages":
        return ChatAnthropic(model=model, api_key=key, base_url=url)
    if speaks == "Gemini":
        return ChatGoogleGenerativeAI(model=model, api_key=key, base_url=url)
    return ChatOpenAI(
        model=model, api_key=key, base_url=f"{url}/v1", stream_usage=True, use_responses_api=speaks == "Responses"
    )


def run(key):
    agent = create_agent(model=model_of(key), tools=tools)
    text, used = "", 0
    for piece, _ in agent.stream({"messages": [{"role": "user", "content": prompt}]}, stream_mode="messages"):
        if piece.type != "AIMessageChunk":
            continue
        text += piece.text
        used += (piece.usage_metadata or {}).get("total_tokens", 0)
    return text, used


must_refuse(run, ModelAuthenticationError)
finish(*run(token))
