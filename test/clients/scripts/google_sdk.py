"""Google's SDK, which calls functions automatically, streamed."""

from google import genai
from google.genai.errors import ClientError
from task_tools import finish, model, must_refuse, prompt, token, tools, url


def run(key):
    client = genai.Client(api_key=key, http_options={"base_url": url})
    text, used = "", 0
    for chunk in client.models.generate_content_stream(model=model, contents=prompt, config={"tools": tools}):
        text += chunk.text or ""
        if chunk.usage_metadata:
            used = chunk.usage_metadata.total_token_count or used
    return text, used


# The library has no error class of its own for this case.
must_refuse(run, ClientError, code=401, status="UNAUTHENTICATED")
finish(*run(token))
