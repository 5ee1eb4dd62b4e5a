"""Kokoro voices. Those for Japanese and Chinese need the packages of the extra `speech-asia`.

Pitch is the median fundamental frequency of a sentence in the voice's language, measured once. Age is estimated from
the pitch among voices of the same gender.
"""

from cutroom.engines.synthesis.port import Gender, StockVoice

_FEMALE, _MALE = Gender.FEMALE, Gender.MALE
_YOUNG, _MIDDLE, _OLD = "young", "middle-aged", "old"

VOICES = (
    StockVoice("af_alloy", "Alloy", "en-US", _FEMALE, _MIDDLE, 135.0),
    StockVoice("af_aoede", "Aoede", "en-US", _FEMALE, _YOUNG, 174.0),
    StockVoice("af_bella", "Bella", "en-US", _FEMALE, _YOUNG, 186.0),
    StockVoice("af_heart", "Heart", "en-US", _FEMALE, _YOUNG, 192.0),
    StockVoice("af_jessica", "Jessica", "en-US", _FEMALE, _YOUNG, 202.0),
    StockVoice("af_kore", "Kore", "en-US", _FEMALE, _MIDDLE, 148.0),
    StockVoice("af_nicole", "Nicole", "en-US", _FEMALE, _MIDDLE, 139.0),
    StockVoice("af_nova", "Nova", "en-US", _FEMALE, _MIDDLE, 155.0),
    StockVoice("af_river", "River", "en-US", _FEMALE, _YOUNG, 176.0),
    StockVoice("af_sarah", "Sarah", "en-US", _FEMALE, _YOUNG, 171.0),
    StockVoice("af_sky", "Sky", "en-US", _FEMALE, _MIDDLE, 164.0),
    StockVoice("am_adam", "Adam", "en-US", _MALE, _YOUNG, 115.0),
    StockVoice("am_echo", "Echo", "en-US", _MALE, _MIDDLE, 103.0),
    StockVoice("am_eric", "Eric", "en-US", _MALE, _YOUNG, 157.0),
    StockVoice("am_fenrir", "Fenrir", "en-US", _MALE, _YOUNG, 133.0),
    StockVoice("am_liam", "Liam", "en-US", _MALE, _YOUNG, 117.0),
    StockVoice("am_michael", "Michael", "en-US", _MALE, _MIDDLE, 106.0),
    StockVoice("am_onyx", "Onyx", "en-US", _MALE, _MIDDLE, 85.0),
    StockVoice("am_puck", "Puck", "en-US", _MALE, _MIDDLE, 114.0),
    StockVoice("am_santa", "Santa", "en-US", _MALE, _OLD, 151.0),
    StockVoice("bf_alice", "Alice", "en-GB", _FEMALE, _YOUNG, 201.0),
    StockVoice("bf_emma", "Emma", "en-GB", _FEMALE, _YOUNG, 180.0),
    StockVoice("bf_isabella", "Isabella", "en-GB", _FEMALE, _YOUNG, 198.0),
    StockVoice("bf_lily", "Lily", "en-GB", _FEMALE, _YOUNG, 190.0),
    StockVoice("bm_daniel", "Daniel", "en-GB", _MALE, _YOUNG, 120.0),
    StockVoice("bm_fable", "Fable", "en-GB", _MALE, _MIDDLE, 109.0),
    StockVoice("bm_george", "George", "en-GB", _MALE, _YOUNG, 141.0),
    StockVoice("bm_lewis", "Lewis", "en-GB", _MALE, _MIDDLE, 87.0),
    StockVoice("ef_dora", "Dora", "es", _FEMALE, _YOUNG, 169.0),
    StockVoice("em_alex", "Alex", "es", _MALE, _YOUNG, 124.0),
    StockVoice("em_santa", "Santa", "es", _MALE, _OLD, 130.0),
    StockVoice("ff_siwis", "Siwis", "fr", _FEMALE, _YOUNG, 205.0),
    StockVoice("hf_alpha", "Alpha", "hi", _FEMALE, _YOUNG, 205.0),
    StockVoice("hf_beta", "Beta", "hi", _FEMALE, _YOUNG, 176.0),
    StockVoice("hm_omega", "Omega", "hi", _MALE, _YOUNG, 122.0),
    StockVoice("hm_psi", "Psi", "hi", _MALE, _YOUNG, 132.0),
    StockVoice("if_sara", "Sara", "it", _FEMALE, _YOUNG, 221.0),
    StockVoice("im_nicola", "Nicola", "it", _MALE, _MIDDLE, 98.0),
    StockVoice("jf_alpha", "Alpha", "ja", _FEMALE, _YOUNG, 267.0),
    StockVoice("jf_gongitsune", "Gongitsune", "ja", _FEMALE, _YOUNG, 239.0),
    StockVoice("jf_nezumi", "Nezumi", "ja", _FEMALE, _YOUNG, 239.0),
    StockVoice("jf_tebukuro", "Tebukuro", "ja", _FEMALE, _YOUNG, 320.0),
    StockVoice("jm_kumo", "Kumo", "ja", _MALE, _MIDDLE, 78.0),
    StockVoice("pf_dora", "Dora", "pt-BR", _FEMALE, _YOUNG, 173.0),
    StockVoice("pm_alex", "Alex", "pt-BR", _MALE, _YOUNG, 129.0),
    StockVoice("pm_santa", "Santa", "pt-BR", _MALE, _OLD, 133.0),
    StockVoice("zf_xiaobei", "Xiaobei", "zh-CN", _FEMALE, _YOUNG, 256.0),
    StockVoice("zf_xiaoni", "Xiaoni", "zh-CN", _FEMALE, _YOUNG, 230.0),
    StockVoice("zf_xiaoxiao", "Xiaoxiao", "zh-CN", _FEMALE, _YOUNG, 267.0),
    StockVoice("zf_xiaoyi", "Xiaoyi", "zh-CN", _FEMALE, _YOUNG, 302.0),
    StockVoice("zm_yunjian", "Yunjian", "zh-CN", _MALE, _MIDDLE, 114.0),
    StockVoice("zm_yunxi", "Yunxi", "zh-CN", _MALE, _YOUNG, 169.0),
    StockVoice("zm_yunxia", "Yunxia", "zh-CN", _MALE, _YOUNG, 299.0),
    StockVoice("zm_yunyang", "Yunyang", "zh-CN", _MALE, _YOUNG, 117.0),
)
