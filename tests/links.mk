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
$(B)/tests/testkit/turn_fixture.o: private CPPFLAGS += \
    -iquote services/llm-orchestrator
$(B)/tests/testkit/turn_fixture.o: | $(GEN)/wire/msgs.h
LINKS_fuzz_rx := rx core
LINKS_fuzz_sse := httpc
LINKS_fuzz_nats := bus
LINKS_fuzz_log := core
LINKS_fuzz_filter := alarm rx wire zh
PKG_fuzz_filter := intent-filter
SRC_fuzz_filter := $(filter-out %/main.c %/on_filter.c %/catalog_loader.c,\
	$(call sources,services/intent-filter))
LINKS_fuzz_catalog_request := alarm rx wire zh
PKG_fuzz_catalog_request := intent-filter
SRC_fuzz_catalog_request := $(SRC_fuzz_filter)
build/fuzz/tests/fuzz/catalog_request.o build/fuzz/tests/fuzz/filter.o: private CPPFLAGS += -iquote services/intent-filter
LINKS_httpc := httpd
LINKS_otlp := svc
LINKS_PKG_svc := jansson libnats
LINKS_PKG_work := jansson libnats
BINS_work := memory-worker
BINS_svc := emotion-engine intent-filter llm-sim
LINKS_PKG_memory-worker := jansson libnats
BINS_memory-worker := llm-sim
BINS_llm-orchestrator := alarm-clock
LINKS_PKG_chat-gateway := jansson libnats
BINS_chat-gateway := emotion-engine intent-filter llm-orchestrator mcp-host mcp-sim \
    memory-worker mqtt-bridge star-hub
LINKS_PKG_body-sim := jansson libmosquitto
# The reports of body-sim are tested with the program that consumes them.
$(B)/tests/integration/body-sim/test_intents: | $(B)/bin/intent-filter
LINKS_PKG_zh := jansson
LINKS_fuzz_datetime := zh core
LINKS_fuzz_alarm_when := alarm zh wire core
# Fuzzers of the recogniser.
EMOTION := $(addprefix services/emotion-engine/recognition/,codepoints.c \
	emoticon.c feature.c lexicon.c lexicon_en.c lexicon_zh.c model.c)
SRC_fuzz_weights := $(EMOTION)
SRC_fuzz_emotion := $(EMOTION) services/emotion-engine/recognition/recognizer.c
LINKS_fuzz_emotion := wire persona core
LINKS_fuzz_weights := wire persona core
build/fuzz/tests/fuzz/emotion.o build/fuzz/tests/fuzz/weights.o: \
    private CPPFLAGS += -iquote services/emotion-engine
build/fuzz/services/emotion-engine/recognition/model.o: \
    services/emotion-engine/emotion.weights
# The provider layer is tested with the simulated model.
BINS_llm := llm-sim
LINKS_fuzz_llm := llm
# Responses of external memory stores.
SRC_fuzz_stores := $(addprefix services/memory-worker/,\
	store/mem0_codec.c store/chroma_codec.c store/memory_record.c)
LINKS_fuzz_stores := wire core
# Profile patches and the resulting documents.
SRC_fuzz_profile := services/memory-worker/profile/profile_doc.c
LINKS_fuzz_profile := wire core
build/fuzz/tests/fuzz/profile.o: private CPPFLAGS += -iquote services/memory-worker
build/fuzz/tests/fuzz/stores.o: private CPPFLAGS += -iquote services/memory-worker
# Completions of a model that summarises a conversation.
SRC_fuzz_extraction := $(addprefix services/memory-worker/,\
	summary/extraction.c summary/summary_prompt.c \
	store/memory_record.c)
LINKS_fuzz_extraction := search wire core
build/fuzz/tests/fuzz/extraction.o: private CPPFLAGS += -iquote services/memory-worker
# Parsers that run on an HTTP request before authentication.
LINKS_fuzz_http := httpd
LINKS_PKG_star-hub := libnats
$(B)/tests/testkit/star_fixture.o: | $(GEN)/wire/msgs.h
LINKS_PKG_star-hub := jansson libnats
SRC_fuzz_envelope := $(addprefix services/star-hub/,\
	client_identity.c envelope.c payload.c recipient.c)
LINKS_fuzz_envelope := http wire core
build/fuzz/tests/fuzz/envelope.o: private CPPFLAGS += -iquote services/star-hub
SRC_fuzz_star_body := $(addprefix services/star-hub/,\
	client_identity.c envelope.c body/body_message.c)
LINKS_fuzz_star_body := http terminal wire core
PKG_fuzz_star_body := terminal
build/fuzz/tests/fuzz/star_body.o: private CPPFLAGS += -iquote services/star-hub
# Records between hubs.
SRC_fuzz_link_record := services/star-hub/cluster/link_record.c
LINKS_fuzz_link_record := core
build/fuzz/tests/fuzz/link_record.o: private CPPFLAGS += -iquote services/star-hub
LINKS_fuzz_ws_head := ws
LINKS_fuzz_ws_frame := ws
# Messages published by bodies.
SRC_fuzz_mqtt := $(addprefix services/mqtt-bridge/,\
	address.c credentials/password_file.c \
	broker-plugin/topic_filter.c)
LINKS_fuzz_mqtt := terminal rx wire core
PKG_fuzz_mqtt := terminal
build/fuzz/tests/fuzz/mqtt.o: private CPPFLAGS += -iquote services/mqtt-bridge
# Events of conversations.
LINKS_fuzz_fcmp := fcmp wire core
# Events of the bus, as their readers see them.
SRC_fuzz_openai_chat := services/chat-gateway/openai/openai_view.c \
	services/chat-gateway/chat/message_text.c
LINKS_fuzz_openai_chat := wire core
build/fuzz/tests/fuzz/openai_chat.o: private CPPFLAGS += \
    -iquote services/chat-gateway
SRC_fuzz_event_view := services/chat-gateway/live/event_view.c
LINKS_fuzz_event_view := wire core
build/fuzz/tests/fuzz/event_view.o: private CPPFLAGS += \
    -iquote services/chat-gateway
SRC_fuzz_dead_letter := libs/work/dead_letter.c
LINKS_fuzz_dead_letter := bus
# Readers of single fields.
SRC_fuzz_field := services/chat-gateway/streams/event_cursor.c \
	services/memory-worker/recall/page_cursor.c
LINKS_fuzz_field := otlp bus core
build/fuzz/tests/fuzz/field.o: private CPPFLAGS += -iquote services/chat-gateway \
    -iquote services/memory-worker
# Parsers of access tokens and of the files that list valid ones.
LINKS_fuzz_token := auth
# Addresses of Redis, and what servers of a cluster reply.
LINKS_fuzz_redis := state core
# The rules of the stack's chaos test.
LINKS_PKG_testkit := jansson
LINKS_PKG_star-hub := jansson libnats
$(B)/tests/testkit/proxy_fixture.o: private CPPFLAGS += \
    -iquote services/engine-runner
# Paths of runs and responses of models.
SRC_fuzz_proxy_path := services/engine-runner/proxy/proxy_path.c
LINKS_fuzz_proxy_path := core
PKG_fuzz_proxy_path := engine-runner
SRC_fuzz_token_count := $(addprefix services/engine-runner/proxy/,\
	token_count.c key_filter.c)
LINKS_fuzz_token_count := wire core
PKG_fuzz_token_count := engine-runner
build/fuzz/tests/fuzz/proxy_path.o build/fuzz/tests/fuzz/token_count.o: \
    private CPPFLAGS += -iquote services/engine-runner
$(B)/tests/testkit/attempt_fixture.o: private CPPFLAGS += \
    -iquote services/engine-runner
$(B)/tests/testkit/attempt_fixture.o: | $(GEN)/wire/msgs.h
LINKS_PKG_engine-runner := jansson libnats
LINKS_engine-runner := auth
BINS_engine-runner := engine-play chat-gateway
LINKS_PKG_mcp-host := jansson libnats
BINS_mcp-host := mcp-sim llm-orchestrator
# Tests of shims run it.
BINS_procsup := engine-play
# What engines print, and the files of a spool.
LINKS_fuzz_done_marker := fcmp
RUNNER_CORE := $(addprefix services/engine-runner/,\
	attempt.c attempt_fact.c attempt_end.c engine.c failure_class.c \
	interaction.c) $(foreach d,engines events spool,\
	$(wildcard services/engine-runner/$d/*.c))
SRC_fuzz_attempt := $(RUNNER_CORE)
LINKS_fuzz_attempt := fcmp procsup
SRC_fuzz_interaction := services/engine-runner/interaction.c
LINKS_fuzz_interaction := fcmp
SRC_fuzz_spool_format := services/engine-runner/spool/journal.c
LINKS_fuzz_spool_format := procsup
build/fuzz/tests/fuzz/attempt.o build/fuzz/tests/fuzz/interaction.o \
    build/fuzz/tests/fuzz/spool_format.o: private CPPFLAGS += \
    -iquote services/engine-runner
# What runners and shims read of each other.
LINKS_fuzz_shim_text := procsup core
# What users reply, and versions of engines.
SRC_fuzz_reply_check := $(RUNNER_CORE) $(addprefix services/engine-runner/,\
	run_reply_check.c engine_set.c)
LINKS_fuzz_reply_check := fcmp procsup
build/fuzz/tests/fuzz/reply_check.o: private CPPFLAGS += \
    -iquote services/engine-runner
# Lists and results of providers of tools, and replies of users.
SRC_fuzz_provided := $(addprefix services/llm-orchestrator/,turn/turn_fsm.c \
	reply/reply_compose.c tools/approval.c tools/tool_catalog.c \
	tools/tool_list.c tools/tool_result.c tools/tool_schema.c \
	tools/tool_set.c)
LINKS_fuzz_provided := fcmp tool
PKG_fuzz_provided := llm-orchestrator
build/fuzz/tests/fuzz/provided.o: private CPPFLAGS += \
    -iquote services/llm-orchestrator
# Names and results of the tools of MCP servers.
SRC_fuzz_mcp_rpc := $(addprefix services/mcp-host/,rpc.c mcp_session.c \
	catalogue.c)
LINKS_fuzz_mcp_rpc := tool
SRC_fuzz_mcp_config := $(addprefix services/mcp-host/,mcp_config.c jsonc.c)
LINKS_fuzz_mcp_config := tool
build/fuzz/tests/fuzz/mcp_rpc.o build/fuzz/tests/fuzz/mcp_config.o: \
    private CPPFLAGS += -iquote services/mcp-host
SRC_fuzz_tool_name := services/mcp-host/tool_name.c
LINKS_fuzz_tool_name := tool
SRC_fuzz_result_content := $(addprefix services/mcp-host/,result_content.c clean_text.c)
LINKS_fuzz_result_content := tool
build/fuzz/tests/fuzz/tool_name.o build/fuzz/tests/fuzz/result_content.o: \
    private CPPFLAGS += -iquote services/mcp-host
LINKS_PKG_navigator := jansson libnats
BINS_navigator := llm-sim llm-orchestrator
# What models have thought.
SRC_fuzz_cycle_output := services/navigator/cycle_output.c
LINKS_fuzz_cycle_output := wire core
build/fuzz/tests/fuzz/cycle_output.o: private CPPFLAGS += \
    -iquote services/navigator
# What of a completion is said.
SRC_fuzz_spoken_text := $(addprefix services/llm-orchestrator/reply/, \
	spoken_text.c inner_voice.c quote_filter.c)
LINKS_fuzz_spoken_text := wire core
build/fuzz/tests/fuzz/spoken_text.o: private CPPFLAGS += \
    -iquote services/llm-orchestrator
LINKS_PKG_alarm-clock := jansson libnats
LINKS_alarm-clock := state alarm
