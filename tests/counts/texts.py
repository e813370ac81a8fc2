"""What engines print, as the readers' tests need it: one whole text of each format."""

from __future__ import annotations

import json

VLLM_LINE = (
    "(APIServer pid=1) INFO 08-06 11:01:16 [metrics.py:125] SpecDecoding metrics: "
    "Mean acceptance length: 2.91, Accepted throughput: 4.40 tokens/s, "
    "Drafted throughput: 16.10 tokens/s, Accepted: 44 tokens, Drafted: 161 tokens, "
    "Per-position acceptance rate: 0.739, 0.478, 0.261, 0.174, 0.130, 0.087, 0.043, "
    "Avg Draft acceptance rate: 27.3%\n"
)

VLLM_SCRAPE = """\
# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 100.0
vllm:spec_decode_num_drafts_created{engine="0",model_name="m"} 1.7876e+09
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 300.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 135.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 72.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 41.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="2"} 22.0
vllm:num_requests_running{engine="0",model_name="m"} 5.0
"""

VLLM_LATER = """\
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 1.1e+02
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 330.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 149.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 80.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 45.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="2"} 24.0
"""

VLLM_REQUEST = {
    "id": "cmpl-1",
    "usage": {"completion_tokens": 51},  # the first is of the prefill
    "metrics": {
        "speculative_decoding": {
            "mean_acceptance_length": 2.5,
            "draft_acceptance_rate": 0.5,
            "acceptance_histogram": [8, 0, 6, 6],
            "num_spec_steps": 20,
            "num_accepted_draft_tokens": 30,
            "num_draft_tokens": 60,
            "num_spec_tokens": 3,
        }
    },
}

VLLM_BENCH = {
    "completed": 4,
    "spec_decode_acceptance_rate": 45.0,
    "spec_decode_acceptance_length": 2.35,
    "spec_decode_num_drafts": 100,
    "spec_decode_draft_tokens": 300,
    "spec_decode_accepted_tokens": 135,
    "spec_decode_per_position_acceptance_rates": [0.72, 0.41, 0.22],
}

#: From sgl-project/sglang#11948: four draft tokens, and a rate that counts the root.
SGLANG_LINE = (
    "[2025-10-22 09:12:01 TP0] Decode batch, #running-req: 1, #token: 812, token usage: 0.00, "
    "accept len: 2.17, accept rate: 0.54, cuda graph: True, gen throughput (token/s): 180.2\n"
)

SGLANG_SCRAPE = """\
sglang:spec_accept_length{model_name="m"} 2.17
sglang:spec_accept_rate{model_name="m"} 0.39
sglang:spec_num_steps{model_name="m"} 3.0
sglang:spec_num_draft_tokens{model_name="m"} 4.0
sglang:num_running_reqs{model_name="m"} 3.0
"""

SGLANG_SERVER_INFO = {
    "speculative_algorithm": "EAGLE3",
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 4,
    "internal_states": [{"last_gen_throughput": 180.2, "avg_spec_accept_length": 2.17}],
}

SGLANG_RESPONSE = {
    "text": "…",
    "meta_info": {
        "completion_tokens": 50,
        "spec_accept_rate": 0.5,
        "spec_accept_length": 2.5,
        "spec_num_correct_drafts": 30,
        "spec_num_proposed_drafts": 60,
        "spec_verify_ct": 20,
        "spec_correct_drafts_histogram": [8, 0, 6, 6],
    },
}

TRTLLM_SCRAPE = """\
trtllm_spec_decode_drafted_tokens_total{token_position="0",worker="0"} 10
trtllm_spec_decode_drafted_tokens_total{token_position="0",worker="1"} 20
trtllm_spec_decode_drafted_tokens_total{token_position="1",worker="0"} 5
trtllm_spec_decode_drafted_tokens_total{token_position="1",worker="1"} 10
trtllm_spec_decode_accepted_tokens_total{token_position="0",worker="0"} 8
trtllm_spec_decode_accepted_tokens_total{token_position="0",worker="1"} 13
trtllm_spec_decode_accepted_tokens_total{token_position="1",worker="0"} 3
trtllm_spec_decode_accepted_tokens_total{token_position="1",worker="1"} 6
trtllm_num_generation_requests 4
"""

TRTLLM_PLAIN_SCRAPE = """\
trtllm_spec_decode_num_draft_tokens_total{engine_type="trtllm"} 300.0
trtllm_spec_decode_num_accepted_tokens_total{engine_type="trtllm"} 135.0
trtllm_spec_decode_acceptance_length{engine_type="trtllm"} 2.5
"""


def _iteration(drafted: int, accepted: int, requests: int, length: float) -> dict[str, object]:
    return {
        "iter": 1,
        "specDecodingStats": {
            "numDraftTokens": drafted,
            "numAcceptedTokens": accepted,
            "numRequestsWithDraftTokens": requests,
            "acceptanceLength": length,
        },
    }


#: Two with drafts, of very different weight, and two without, which print 0 and 1.
TRTLLM_ITERATIONS = [
    _iteration(24, 16, 8, 3.0),
    _iteration(0, 0, 0, 0.0),
    _iteration(0, 0, 0, 1.0),
    _iteration(3, 0, 1, 1.0),
]

TRTLLM_REQUEST = {
    "acceptance_rate": 0.5,
    "total_accepted_draft_tokens": 30,
    "total_draft_tokens": 60,
    "num_spec_steps": 20,
    "acceptance_histogram": [8, 0, 6, 6],
    "num_spec_tokens": None,
}

TRTLLM_BLOCK = {
    "accepted_draft_hist": [8, 0, 6, 6],
    "confidence_calibration": {"attempts": [], "accepted": []},
}

#: From ggml-org/llama.cpp#24536.
LLAMA_LINE = (
    "0.06.896.015 I slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 "
    "(  167 accepted /   259 generated), mean acceptance length =  2.92, acceptance rate per "
    "position = (0.805, 0.632, 0.483)\n"
)

LLAMA_OLD_LINE = "draft acceptance rate = 0.57576 (  171 accepted /   297 generated)\n"

#: From ggml-org/llama.cpp#3649.
LLAMA_EXAMPLE = """\
encoded   25 tokens in    0.1 seconds, speed:  250.0 t/s

n_draft   = 8
n_predict = 503
n_drafted = 426
n_accept  = 384
accept    = 90.141%
"""

PLAIN = "steps 23, drafted 161, accepted 44, length 7"

#: Each format's name, as it is recognised, and a whole text of it.
EVERY_FORMAT: dict[str, str] = {
    "vLLM log": VLLM_LINE,
    "vLLM or llama.cpp Prometheus": VLLM_SCRAPE,
    "vLLM per-request JSON": json.dumps(VLLM_REQUEST),
    "vLLM bench JSON": json.dumps(VLLM_BENCH),
    "SGLang log": SGLANG_LINE,
    "SGLang Prometheus": SGLANG_SCRAPE,
    "SGLang server info": json.dumps(SGLANG_SERVER_INFO),
    "SGLang meta_info": json.dumps(SGLANG_RESPONSE),
    "TensorRT-LLM Prometheus": TRTLLM_SCRAPE,
    "TensorRT-LLM iteration JSON": json.dumps(TRTLLM_ITERATIONS),
    "TensorRT-LLM per-request JSON": json.dumps(TRTLLM_REQUEST),
    "TensorRT-LLM block statistics": json.dumps(TRTLLM_BLOCK),
    "llama.cpp server log": LLAMA_LINE,
    "llama.cpp example counters": LLAMA_EXAMPLE,
    "plain counts": PLAIN,
}
