/**
 * Default prices that the generated table (default-prices.gen.ts) lacks. They are maintained by hand in the grammar of
 * price-lines.ts. Most are from one-api's table, with errors corrected: older models, Chinese models at ¥7 to the
 * dollar, and models priced per image. The others are prices that neither one-api's table nor the generated table has.
 * If a name is in both the generated table and this one, the price in this table applies. A test lists the names that
 * may be in both.
 */
export const extraPriceTable = `
# openai 0
gpt-4o-audio-preview | in=2.5 out=10 audio=40 audioOut=80
gpt-4o-mini-audio-preview gpt-4o-mini-audio | in=0.15 out=0.6 audio=10 audioOut=20
gpt-5-image | in=10 out=10 read=1.25 imageOut=40
gpt-5-image-mini | in=2.5 out=2 read=0.25 imageOut=8
gpt-5.4-image-2 | in=8 out=15 read=2 imageOut=30
ft:gpt-4.1 | in=3 out=12 read=0.75
ft:gpt-4.1-mini | in=0.8 out=3.2 read=0.2
ft:gpt-4.1-nano | in=0.2 out=0.8 read=0.05
tts-1 tts-1-1106 | char=15
tts-1-hd tts-1-hd-1106 | char=30
dall-e dall-e-2 | pic=0.016
dall-e-3 | pic=0.04
# openrouter 20
google/gemini-2.5-flash-image | in=0.3 out=2.5 read=0.03 write=0.083333333333 imageOut=30
google/gemini-3-pro-image-preview | in=2 out=12 read=0.2 write=0.375 imageOut=120
google/gemini-3.1-flash-image-preview | in=0.5 out=3 imageOut=60
openai/gpt-5-image | in=10 out=10 read=1.25 imageOut=40
openai/gpt-5-image-mini | in=2.5 out=2 read=0.25 imageOut=8
openai/gpt-5.4-image-2 | in=8 out=15 read=2 imageOut=30
# cohere 0
rerank-v3.5 rerank-english-v3.0 rerank-multilingual-v3.0 rerank-v4.0-pro | search=0.002
command-a-reasoning-08-2025 command-a-vision-07-2025 | in=2.5 out=10
embed-english-v3.0 embed-multilingual-v3.0 embed-english-light-v3.0 embed-multilingual-light-v3.0 | in=0.1
embed-english-v3.0 embed-multilingual-v3.0 | in=0.1
command-a-reasoning-08-2025 command-a-vision-07-2025 | in=2.5 out=10
# zhipuai 0
cogview-3-flash cogviewx-flash | pic=0
cogview-3-plus | pic=0.008571429
cogview-3 | pic=0.014285714
cogviewx | pic=0.071428571
# ali 0
ali-stable-diffusion-v1.5 ali-stable-diffusion-xl wanx-v1 | pic=0.016
# stepfun 0
step-1-flash | in=0.142858 out=0.571428
step-1-8k step-1v-8k | in=0.714286 out=2.857142
step-1-256k | in=13.571428 out=42.857142
step-1-32k step-1v-32k | in=2.142858 out=10
step-2-16k | in=5.428572 out=17.142858
step-1-128k | in=5.714286 out=28.571428
# china 0
Doubao-pro-32k Doubao-pro-4k | in=0.114286 out=0.285714
Doubao-pro-128k | in=0.714286 out=1.285714
Doubao-lite-32k Doubao-lite-4k | in=0.042857 out=0.085714
Doubao-lite-128k | in=0.114286 out=0.142857
Doubao-embedding text-embedding-v4 Baichuan-Text-Embedding | in=0.071429
qwen-long | in=0.071429 out=0.285714
hunyuan-pro | in=4.285714 out=14.285714
ernie-4.0-turbo-8k ernie-4.0-turbo-8k-latest ernie-4.0-turbo-8k-preview ernie-4.0-turbo-128k | in=2.857143 out=8.571429
ernie-3.5-128k | in=0.114286 out=0.285714
ernie-4.5-turbo-32k ernie-4.5-turbo-128k | in=0.114286 out=0.457143
ernie-x1-turbo-32k | in=0.142857 out=0.571429
ernie-char-8k ernie-char-fiction-8k | in=0.571429 out=1.142857
ernie-speed-pro-128k | in=0.042857 out=0.085714
ernie-lite-pro-128k | in=0.028571 out=0.057143
ernie-novel-8k | in=5.714286 out=17.142857
Baichuan4 | in=14.285714 out=14.285714
Baichuan3-Turbo | in=1.714286 out=1.714286
yi-lightning | in=0.141429 out=0.141429
MiniMax-Text-01 MiniMax-VL-01 | in=0.142857 out=1.142857
glm-4-flash glm-4v-flash | in=0
codegeex-4 glm-4-flashx | in=0.014286
qwen2.5-0.5b-instruct qwen2.5-1.5b-instruct | in=0.042858
embedding-2 embedding-3 hunyuan-standard-256K qwen-max-longcontext qwen2.5-7b-instruct | in=0.071428
hunyuan-embedding text-embedding-async-v1 text-embedding-async-v2 text-embedding-v1 text-embedding-v2 text-embedding-v3 | in=0.1
qwen-plus qwen-plus-latest | in=0.114286 out=0.285714
hunyuan-standard | in=0.114286
deepseek-v3 | in=0.285714 out=1.142858
embedding-bert-512-v1 embedding_s1_v1 semantic_similarity_s1_v1 ERNIE-Tiny-8K charglm-4 glm-3-turbo qwen-mt-turbo qwen1.5-0.5b-chat qwen1.5-1.8b-chat qwen1.5-7b-chat qwen2-0.5b-instruct qwen2-1.5b-instruct qwen2-7b-instruct qwen2-math-1.5b-instruct qwen2-math-7b-instruct qwen2.5-14b-instruct qwen2.5-coder-0.5b-instruct qwen2.5-coder-1.5b-instruct qwen2.5-coder-3b-instruct qwen2.5-coder-7b-instruct qwen2.5-math-1.5b-instruct qwen2.5-math-7b-instruct | in=0.142858
qwen2.5-vl-3b-instruct | in=0.171428
deepseek-r1-distill-qwen-32b | in=0.285714 out=0.571428
Embedding-V1 chatglm_lite bge-large-en bge-large-zh qwen-audio-chat qwen-coder-turbo qwen-coder-turbo-latest qwen-math-turbo qwen-math-turbo-latest qwen-vl-chat-v1 qwen-vl-v1 qwen1.5-14b-chat qwen2-audio-instruct qwen2-vl-2b-instruct qwen2.5-coder-14b-instruct qwen2.5-coder-32b-instruct qwen2.5-vl-7b-instruct tao-8k | in=0.285714
yi-34b-chat-0205 | in=0.357142
ERNIE-Lite-8K-0308 | in=0.428572
qwen-coder-plus qwen-coder-plus-latest qwen1.5-32b-chat qwen2-57b-a14b-instruct | in=0.5
BLOOMZ-7B ERNIE-Speed-128K ERNIE-Speed-8K glm-4v-plus hunyuan-code hunyuan-functioncall hunyuan-large hunyuan-role qwen-math-plus qwen-math-plus-latest qwen2-72b-instruct qwen2-math-72b-instruct qwen2.5-72b-instruct qwen2.5-math-72b-instruct | in=0.571428
chatglm_std abab5.5s-chat hunyuan-translation-lite qwen-vl-ocr qwen-vl-ocr-latest qwen1.5-72b-chat | in=0.714286
hunyuan-large-longcontext qwen-1.8b-chat qwen-1.8b-longcontext-chat qwen-7b-chat qwen2.5-3b-instruct yi-vl-plus | in=0.857142
qwen1.5-110b-chat | in=1
ERNIE-Bot-turbo qwen-plus-v1 Baichuan2-Turbo ERNIE-Lite-8K-0922 qwen-14b-chat | in=1.142858
chatglm_pro abab6.5s-chat glm-zero-preview | in=1.428572
360GPT_S2_V9 360GPT_S2_V9.4 ERNIE-Bot qwen-v1 ERNIE-3.5-4K-0205 ERNIE-3.5-8K ERNIE-3.5-8K-1222 qvq-72b-preview yi-34b-chat-200k | in=1.714286
hunyuan-turbo-vision | in=11.428572
abab6-chat glm-4 glm-4-0520 | in=14.285714
ERNIE-4.0-8K | in=17.142858
abab5.5-chat emohaa hunyuan-turbo qwen-mt-plus | in=2.142858
Baichuan2-Turbo-192k qwen2-vl-7b-instruct qwen2.5-vl-72b-instruct | in=2.285714
SparkDesk hunyuan-vision SparkDesk-v1.1 SparkDesk-v2.1 SparkDesk-v3.1 SparkDesk-v3.1-128K SparkDesk-v3.5 SparkDesk-v3.5-32K SparkDesk-v4.0 | in=2.571428
Baichuan2-53B qwen-72b-chat qwen-audio-turbo | in=2.857142
ERNIE-3.5-8K-0205 ERNIE-Bot-8K | in=3.428572
abab6.5-chat qwen2.5-32b-instruct | in=4.285714
glm-4v | in=7.142858
# one-api 0
gemini-1.5-flash-8b | in=0.0375 out=0.15 read=0.01 >128000 in=0.075 out=0.3 read=0.02
omni-moderation omni-moderation-latest text-moderation text-moderation-latest text-moderation-stable | in=0
text-babbage-001 | in=0.5
claude-instant-1.2 | in=0.8 out=2.4
command-light-nightly command-nightly | in=1 out=2
gemini-2.0-pro-exp-02-05 | in=1.25 out=5
claude-instant-1 | in=1.63 out=4.89
PaLM-2 aqa | in=2
code-davinci-edit-001 text-davinci-edit-001 text-search-ada-doc-001 | in=20
deepl-en deepl-ja deepl-zh | in=25
# aws 0
llama3-8b-8192(33) | in=0.3 out=0.6
llama3-70b-8192(33) | in=2.65 out=3.5
cohere.embed-english-v3 cohere.embed-multilingual-v3 | in=0.1
amazon.rerank-v1:0 | search=0.001
cohere.rerank-v3-5:0 | search=0.002
# replicate 0
ibm-granite/granite-3.0-2b-instruct | in=0.03 out=0.25
ibm-granite/granite-3.0-8b-instruct ibm-granite/granite-8b-code-instruct-128k meta/llama-2-7b meta/llama-2-7b-chat meta/meta-llama-3-8b meta/meta-llama-3-8b-instruct mistralai/mistral-7b-instruct-v0.2(46) mistralai/mistral-7b-v0.1(46) | in=0.05 out=0.25
ibm-granite/granite-20b-code-instruct-8k meta/llama-2-13b meta/llama-2-13b-chat | in=0.1 out=0.5
mistralai/mixtral-8x7b-instruct-v0.1(46) | in=0.3 out=1
deepseek-ai/deepseek-r1(46) | in=3.75 out=10
meta/llama-2-70b meta/llama-2-70b-chat meta/meta-llama-3-70b meta/meta-llama-3-70b-instruct | in=0.65 out=2.75
meta/meta-llama-3.1-405b-instruct | in=9.5 out=9.5
black-forest-labs/flux-redux-schnell black-forest-labs/flux-schnell | pic=0.003
black-forest-labs/flux-schnell-lora | pic=0.02
black-forest-labs/flux-canny-dev black-forest-labs/flux-depth-dev black-forest-labs/flux-dev black-forest-labs/flux-redux-dev | pic=0.025
black-forest-labs/flux-dev-lora | pic=0.032
stability-ai/stable-diffusion-3 stability-ai/stable-diffusion-3.5-medium | pic=0.035
black-forest-labs/flux-1.1-pro black-forest-labs/flux-fill-dev recraft-ai/recraft-v3 stability-ai/stable-diffusion-3.5-large-turbo | pic=0.04
black-forest-labs/flux-canny-pro black-forest-labs/flux-depth-pro black-forest-labs/flux-fill-pro ideogram-ai/ideogram-v2-turbo | pic=0.05
black-forest-labs/flux-pro | pic=0.055
black-forest-labs/flux-1.1-pro-ultra | pic=0.06
stability-ai/stable-diffusion-3.5-large | pic=0.065
ideogram-ai/ideogram-v2 recraft-ai/recraft-v3-svg | pic=0.08
`
