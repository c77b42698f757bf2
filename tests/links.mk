# What the tests of a unit link beside the unit and the testkit: more of our
# libraries (LINKS_x), pkg-config names (LINKS_PKG_x) of plain peers, other
# objects (OBJS_x).  Programs of other services that they run: BINS_x.
LINKS_PKG_intent-filter := jansson libnats libcurl
$(B)/tests/testkit/intent_filter_fixture.o: private CPPFLAGS += \
    -iquote services/intent-filter
$(B)/tests/testkit/intent_filter_fixture.o: | $(GEN)/wire/msgs.h
LINKS_PKG_state := jansson
OBJS_wire := $(B)/gen/probe/msgs.o
LINKS_PKG_wire := jansson
LINKS_PKG_bus := jansson libnats
OBJS_emotion-engine := $(TRAIN_LIB)
LINKS_PKG_emotion-engine := jansson libnats
LINKS_mqtt-bridge := auth
OBJS_mqtt-bridge := $(B)/services/mqtt-bridge/broker-plugin/topic_filter.o
$(patsubst %,$(B)/%,$(filter tests/integration/mqtt-bridge/%,$(IT_TESTS))): \
    | $(BROKER_GATE)
LINKS_PKG_mqtt-bridge := jansson libnats
LINKS_PKG_llm-orchestrator := jansson libnats
LINKS_fuzz_rx := rx core
LINKS_fuzz_sse := httpc
LINKS_fuzz_log := core
LINKS_fuzz_filter := rx wire zh
PKG_fuzz_filter := intent-filter
SRC_fuzz_filter := $(filter-out %/main.c %/on_filter.c %/catalog_cache.c,\
	$(call sources,services/intent-filter))
build/fuzz/tests/fuzz/filter.o: private CPPFLAGS += -iquote services/intent-filter
LINKS_httpc := httpd
LINKS_otlp := svc
LINKS_PKG_svc := jansson libnats
BINS_svc := emotion-engine intent-filter llm-sim
LINKS_PKG_memory-worker := jansson libnats
BINS_memory-worker := llm-sim
LINKS_PKG_chat-gateway := jansson libnats
BINS_chat-gateway := emotion-engine memory-worker
LINKS_PKG_body-sim := jansson libmosquitto
# What body-sim reports is tried with the program that reads it.
$(B)/tests/integration/body-sim/test_words: | $(B)/bin/intent-filter
LINKS_PKG_zh := jansson
LINKS_fuzz_datetime := zh core
# Fuzzers of the recogniser.
FEELING := $(addprefix services/emotion-engine/,\
	emotion.c feature.c lexicon.c lexicon_en.c lexicon_hint_en_bad.c \
	lexicon_hint_en_good.c lexicon_hint_zh.c lexicon_rule.c \
	lexicon_zh.c model.c runes.c unit.c words.c)
SRC_fuzz_weights := $(FEELING)
SRC_fuzz_feeling := $(FEELING) services/emotion-engine/feeling.c
LINKS_fuzz_feeling := wire persona core
build/fuzz/tests/fuzz/feeling.o build/fuzz/tests/fuzz/weights.o: \
    private CPPFLAGS += -iquote services/emotion-engine
build/fuzz/services/emotion-engine/model.o: \
    services/emotion-engine/emotion.weights
# The provider layer is tried with the simulated model.
BINS_llm := llm-sim
LINKS_fuzz_llm := llm
# Readers of other stores' answers.
SRC_fuzz_stores := $(addprefix services/memory-worker/,\
	mem0_wire.c chroma_wire.c record.c)
LINKS_fuzz_stores := wire core
# Patches of profiles, and the documents that they make.
SRC_fuzz_profile := services/memory-worker/profile_doc.c
LINKS_fuzz_profile := wire core
build/fuzz/tests/fuzz/profile.o: private CPPFLAGS += -iquote services/memory-worker
build/fuzz/tests/fuzz/stores.o: private CPPFLAGS += -iquote services/memory-worker
# Reader of what a model makes of a conversation.
SRC_fuzz_harvest := $(addprefix services/memory-worker/,\
	harvest.c gate.c summary.c tokens.c record.c)
LINKS_fuzz_harvest := wire core
PKG_fuzz_harvest := memory-worker
build/fuzz/tests/fuzz/harvest.o: private CPPFLAGS += -iquote services/memory-worker
# What is read of an HTTP request before anybody knows who asks.
SRC_fuzz_http := $(addprefix libs/httpd/,cors.c head.c peer.c uri.c)
LINKS_fuzz_http := core
# What bodies publish.
SRC_fuzz_mqtt := $(addprefix services/mqtt-bridge/,\
	address.c reports/snapshot_parse.c credentials/password_file.c \
	broker-plugin/topic_filter.c)
LINKS_fuzz_mqtt := rx wire core
PKG_fuzz_mqtt := mqtt-bridge
build/fuzz/tests/fuzz/mqtt.o: private CPPFLAGS += -iquote services/mqtt-bridge
# Readers of single fields.
SRC_fuzz_field := services/chat-gateway/cursor.c services/memory-worker/place.c
LINKS_fuzz_field := otlp bus core
build/fuzz/tests/fuzz/field.o: private CPPFLAGS += -iquote services/chat-gateway \
    -iquote services/memory-worker
# Readers of access tokens, and of the files that say which are good.
LINKS_fuzz_token := auth
