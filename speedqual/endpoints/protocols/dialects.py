"""Services that speak OpenAI chat with fields of their own. What they add is read by the one reader of OpenAI chat."""

from __future__ import annotations

from speedqual.endpoints.protocols.adapter import About
from speedqual.endpoints.protocols.openai_chat import OpenAIChat

__all__ = [
    "CEREBRAS",
    "DEEPSEEK",
    "DIALECTS",
    "FIREWORKS",
    "GROQ",
    "LITELLM",
    "MINIMAX",
    "MISTRAL",
    "MOONSHOT",
    "OPENROUTER",
    "QWEN",
    "SGLANG",
    "TOGETHER",
    "VLLM",
    "VOLCENGINE",
    "XAI",
    "ZHIPU",
]


def _dialect(
    name: str, title: str, base_url: str, keys: str, reads: str, *, needs_key: bool = True, **options: object
) -> OpenAIChat:
    about = About(
        title=title,
        sends="as OpenAI chat",
        reads=reads,
        ends="as OpenAI chat",
        note=f"Base URL `{base_url}`.",
    )
    return OpenAIChat(
        name=name,
        about=about,
        needs_key=needs_key,
        key_envs=tuple(keys.split()),
        base_url_envs=(f"{name.upper()}_BASE_URL", f"{name.upper()}_API_BASE"),
        default_base_url=base_url,
        **options,  # type: ignore[arg-type]
    )


DEEPSEEK = _dialect(
    "deepseek",
    "DeepSeek",
    "https://api.deepseek.com/v1",
    "DEEPSEEK_API_KEY",
    "`reasoning_content`; `prompt_cache_hit_tokens`; keep-alive comments are nothing",
)
QWEN = _dialect(
    "qwen",
    "Qwen (Alibaba Model Studio)",
    "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "DASHSCOPE_API_KEY",
    "`reasoning_content`; usage in a chunk of its own",
)
ZHIPU = _dialect(
    "zhipu",
    "Zhipu (GLM)",
    "https://open.bigmodel.cn/api/paas/v4",
    "ZHIPUAI_API_KEY ZHIPU_API_KEY ZAI_API_KEY",
    "`reasoning_content`; usage on the finish chunk; finish reasons `sensitive` and `network_error`",
)
MOONSHOT = _dialect(
    "moonshot",
    "Moonshot (Kimi)",
    "https://api.moonshot.cn/v1",
    "MOONSHOT_API_KEY",
    "`reasoning_content`; usage inside `choices[0]`; `cached_tokens` at the top of usage",
)
MINIMAX = _dialect(
    "minimax",
    "MiniMax",
    "https://api.minimax.io/v1",
    "MINIMAX_API_KEY",
    "`reasoning_details`; errors in `base_resp`; the last chunk's whole `message` is not added again",
)
VOLCENGINE = _dialect(
    "volcengine",
    "Volcengine Ark (Doubao)",
    "https://ark.cn-beijing.volces.com/api/v3",
    "ARK_API_KEY VOLCENGINE_API_KEY",
    "`reasoning_content`; `service_tier` as served",
)
OPENROUTER = _dialect(
    "openrouter",
    "OpenRouter",
    "https://openrouter.ai/api/v1",
    "OPENROUTER_API_KEY",
    "`reasoning` once, also when `reasoning_details` repeats it; `usage.cost`; errors inside a chunk",
)
GROQ = _dialect(
    "groq",
    "Groq",
    "https://api.groq.com/openai/v1",
    "GROQ_API_KEY",
    "`reasoning`; usage and times under `x_groq`; `service_tier`",
)
CEREBRAS = _dialect(
    "cerebras",
    "Cerebras",
    "https://api.cerebras.ai/v1",
    "CEREBRAS_API_KEY",
    "`reasoning`; times under `time_info`",
)
MISTRAL = _dialect(
    "mistral",
    "Mistral",
    "https://api.mistral.ai/v1",
    "MISTRAL_API_KEY",
    "`content` as a list of thinking and text parts; usage on the finish chunk, unasked",
    asks_usage=False,
)
TOGETHER = _dialect(
    "together",
    "Together",
    "https://api.together.xyz/v1",
    "TOGETHER_API_KEY TOGETHERAI_API_KEY",
    "`reasoning`; usage on the finish chunk or in its own",
)
FIREWORKS = _dialect(
    "fireworks",
    "Fireworks",
    "https://api.fireworks.ai/inference/v1",
    "FIREWORKS_API_KEY",
    "`reasoning_content`; `perf_metrics`: the server's time to first token",
)
XAI = _dialect(
    "xai",
    "xAI",
    "https://api.x.ai/v1",
    "XAI_API_KEY",
    "`reasoning_content`; reasoning tokens, counted apart there, are added to the output; `cost_in_usd_ticks`",
)
VLLM = _dialect(
    "vllm",
    "vLLM",
    "http://127.0.0.1:8000/v1",
    "VLLM_API_KEY",
    "`reasoning` and `reasoning_content`; running usage (`continuous_usage_stats`); errors inside the stream",
    needs_key=False,
)
SGLANG = _dialect(
    "sglang",
    "SGLang",
    "http://127.0.0.1:30000/v1",
    "SGLANG_API_KEY",
    "`reasoning_content`; `reasoning_tokens` at the top of usage",
    needs_key=False,
)
LITELLM = _dialect(
    "litellm",
    "LiteLLM proxy",
    "http://127.0.0.1:4000/v1",
    "LITELLM_API_KEY LITELLM_MASTER_KEY",
    "the same reasoning under two names counts once; the header `x-litellm-response-cost`",
    needs_key=False,
)

DIALECTS: tuple[OpenAIChat, ...] = (
    DEEPSEEK,
    QWEN,
    ZHIPU,
    MOONSHOT,
    MINIMAX,
    VOLCENGINE,
    OPENROUTER,
    GROQ,
    CEREBRAS,
    MISTRAL,
    TOGETHER,
    FIREWORKS,
    XAI,
    VLLM,
    SGLANG,
    LITELLM,
)
