# Tests, lint, timings: tests/{unit,integration,soak}/<unit>/test_x.c,
# tests/e2e/<area>/test_x.c and what runs them.  Included by the Makefile.
#
#   make test                    lint, unit, integration, end to end, seconds of
#                                fuzzing
#   make test FILTER=name        only tests with name in their name, or in their
#                                file's; no lint
#   make test UNITS="core rx"    only those units' tests, no lint
#   make test-helm               the chart in k8s/, with npm's Helm
#   make test-docs               openapi.yaml, asyncapi.yaml, with npm's linters
#   make test-web                star-hub's browser client, with Node
#   make test-console            the console, with Node and Chromium
#   make test-engines            real coding engines, from npm
#   make test-language           accuracy per phenomenon of tests/language
#   make test-mcp                real MCP servers, from npm
#   make test-doors              clients of all protocols, from npm
#   J=1                          one program at a time
#   make test-compose            images and docker compose

J ?= $(shell expr $$(nproc) + 1)
# Most of the time, most tests of "make test" wait; sanitized ones less.
TEST_J := $(if $(filter file,$(origin J)),\
	$(shell expr $$(nproc) $(if $(SAN),+ 2,\* 2 + 1)),$(J))
SOAK_TESTS := $(patsubst %.c,%,$(wildcard tests/soak/*/test_*.c))
unit_of = $(notdir $(patsubst %/,%,$(dir $(1))))

# An archive, so that a test links only the objects it uses.
TESTKIT := $(B)/tests/testkit.a
STACKKIT := $(B)/tests/testkit/stack.a
STACKKIT_OBJS := $(filter $(B)/tests/testkit/stack/%,$(call objs,tests/testkit))
PLAYER_OBJS := $(filter $(B)/tests/testkit/engine-play/%,$(call objs,tests/testkit))
MCP_SIM_OBJS := $(filter $(B)/tests/testkit/mcp-sim/%,$(call objs,tests/testkit))
TESTKIT_OBJS := $(filter-out $(STACKKIT_OBJS) $(PLAYER_OBJS) $(MCP_SIM_OBJS) \
	$(B)/tests/testkit/preload/%,$(call objs,tests/testkit))
$(eval $(call archive_rule,$(TESTKIT),$(TESTKIT_OBJS)))
$(eval $(call archive_rule,$(STACKKIT),$(STACKKIT_OBJS)))
$(TESTKIT_OBJS) $(STACKKIT_OBJS): private CPPFLAGS += -iquote tests
$(TESTKIT_OBJS) $(STACKKIT_OBJS): private WARN += -Wno-pedantic
$(STACKKIT_OBJS): | $(GEN)/wire/msgs.h

# A scripted engine.
PLAYER := $(B)/bin/engine-play
$(PLAYER_OBJS): private CPPFLAGS += -iquote tests
$(PLAYER): $(PLAYER_OBJS)
	@mkdir -p $(@D) && echo "  LD      $@"
	@$(LINK) -o $@ $^

# An MCP server.
MCP_SIM := $(B)/bin/mcp-sim
$(MCP_SIM_OBJS): private CPPFLAGS += -iquote tests
$(MCP_SIM): $(MCP_SIM_OBJS)
	@mkdir -p $(@D) && echo "  LD      $@"
	@$(LINK) -o $@ $^ $$(pkg-config --libs jansson)

# Preloaded into servers, which have no sanitizer.
PRELOAD := $(patsubst tests/testkit/preload/%.c,$(B)/tests/testkit/%.so,\
	$(wildcard tests/testkit/preload/*.c))
$(B)/tests/testkit/%.so: tests/testkit/preload/%.c Makefile | $(STAMP)
	@mkdir -p $(@D) && echo "  LD      $@"
	@$(CC) -std=c11 $(CPPFLAGS) -iquote tests $(GUARD) $(WARN) $(CFLAGS) \
	    -Wno-missing-prototypes -fPIC -shared -MMD -MP -MF $(@:.so=.d) -o $@ $<

# A test links its unit, without the unit's main(), the testkit, and what
# LINKS_<unit> (libraries), LINKS_PKG_<unit> (pkg-config names) and OBJS_<unit>
# (objects) in links.mk add.  It runs programs of the unit and BINS_<unit>.
define test_rule
$(B)/$(1).o: private CPPFLAGS += -iquote tests $(if $(wildcard services/$(2)),-iquote services/$(2))
$(B)/$(1).o: private WARN += -Wno-pedantic -Wno-missing-prototypes
$(B)/$(1): $(B)/$(1).o $(TESTKIT) $(OBJS_$(2)) \
    $(if $(wildcard services/$(2)),$(B)/services/$(2).a) \
    $(call archives,$(call roots,$(2)) $(LINKS_$(2)) core) \
    | $(patsubst %,$(B)/bin/%,$(BINS_$(2)) \
	$(if $(wildcard services/$(2)),$(2))) $(PRELOAD)
	@mkdir -p $$(@D) && echo "  LD      $$@"
	@$(LINK) -o $$@ $$^ \
	    $(call ldlibs,$(call roots,$(2)) $(LINKS_$(2)) core,$(2)) \
	    $(foreach p,$(LINKS_PKG_$(2)),$$$$(pkg-config --libs $p)) \
	    $$$$(pkg-config --libs check)
endef
WHOLE_STACK := tests/soak/stack/% tests/bench/stack/%
TESTS := $(UNIT_TESTS) $(IT_TESTS) \
	$(filter-out $(WHOLE_STACK),$(SOAK_TESTS) $(BENCHES))
$(foreach t,$(TESTS),$(eval $(call test_rule,$t,$(call unit_of,$t))))

# An end-to-end test links the harness of the whole stack, and needs every
# program; so do tests/{soak,bench}/stack.
E2E := $(E2E_TESTS) $(filter $(WHOLE_STACK),$(SOAK_TESTS) $(BENCHES))
E2E_PKGS := check jansson libcurl libmosquitto libnats hiredis libcrypto
define e2e_rule
$(B)/$(1).o: private CPPFLAGS += -iquote tests
$(B)/$(1).o: private WARN += -Wno-pedantic -Wno-missing-prototypes
$(B)/$(1).o: | $(GEN)/wire/msgs.h
$(B)/$(1): $(B)/$(1).o $(STACKKIT) $(TESTKIT) $(call archives,auth) \
    | $(SERVICES:%=$(B)/bin/%) $(MCP_SIM) $(BROKER_GATE) $(PRELOAD)
	@mkdir -p $$(@D) && echo "  LD      $$@"
	@$(LINK) -o $$@ $$^ $(call ldlibs,auth,) \
	    $$$$(pkg-config --libs $(E2E_PKGS))
endef
$(foreach t,$(E2E),$(eval $(call e2e_rule,$t)))
# Only units that may include wire depend on the generator.
wire_user = $(filter wire,$(call deps_of,$(call roots,$(1)) $(LINKS_$(1))))
$(foreach u,$(LIBS) $(SERVICES),$(if $(call wire_user,$u),\
    $(eval $(call objs,libs/$u) $(call objs,services/$u): | $(GEN)/wire/msgs.h)))
$(foreach t,$(TESTS),$(if $(call wire_user,$(call unit_of,$t)),\
    $(eval $(B)/$t.o: | $(GEN)/wire/msgs.h)))

# ---- lint --------------------------------------------------------------------
# Each part is a program for run-tests; the parts run in parallel.
lint_row = '$(1)|$(USES_$(1))|$(FOREIGN_$(1))'
LINT := "tests/lint/c layers" "tests/lint/c banned" "tests/lint/c sizes" \
	"tests/lint/c contracts" "tests/lint/c words" tests/lint/headers \
	tests/lint/names tests/lint/identifiers tests/lint/prose \
	tests/lint/statics tests/lint/includes tests/lint/commits \
	tests/lint/format tests/lint/shell tests/lint/lua tests/lint/cppcheck \
	"tests/lint/config-tables $(B)/bin" \
	"tests/lint/chart-settings $(B)/bin" \
	"tests/lint/limits $(B)/bin" \
	"tests/lint/broker-gate $(BROKER_GATE)" tests/lint/make \
	"tests/lint/hardening $(B)" tests/lint/commands tests/lint/links \
	tests/lint/selftest/run
LINT_ENV = LINT_LAYERS="$$(printf '%s\n' \
	$(foreach u,$(LIBS) $(SERVICES) $(notdir $(UNITS_INSIDE)),\
	$(call lint_row,$u)))" \
	LINT_COMPILE='$(COMPILE)'
LINT_NEEDS := $(STAMP) $(GEN)/wire/msgs.h $(GEN)/state/scripts.h $(SERVICES:%=$(B)/bin/%) $(BROKER_GATE)

lint: $(LINT_NEEDS)
	@$(LINT_ENV) tests/testkit/run-tests -j $(J) $(LINT)

format: $(STAMP)
	@tests/lint/files ch | xargs -0 clang-format -i

# ---- running -----------------------------------------------------------------
# FUZZ_SMOKE, FUZZ_SOAK are quoted programs for run-tests, FUZZ_NEEDS what they
# run.
# Sanitized runs and selections leave out what does not depend on the variant.
WHOLE := $(if $(SAN)$(FILTER)$(UNITS),,yes)
# A file is filtered by its own name, and by those of the tests in it.
FOUND := $(if $(FILTER),$(patsubst %.c,%,$(shell grep -lE \
	'^TEST[A-Z_]*.[a-z0-9_]*$(FILTER)' $(addsuffix .c,$(UNIT_TESTS) \
	$(IT_TESTS) $(E2E_TESTS)))))
is_found = $(or $(if $(FILTER),,all),$(filter $(FOUND),$(1)),\
	$(findstring $(FILTER),$(1)))
# What a turn costs is not measured, and the documents' commands are not other
# ones, in a sanitized run.
UNSANITIZED := $(if $(FILTER)$(UNITS),,tests/e2e/cost/% tests/e2e/readme/%)
CHOSEN := $(foreach t,$(filter-out $(if $(SAN),$(UNSANITIZED)),\
	$(UNIT_TESTS) $(IT_TESTS) $(E2E_TESTS)),\
	$(if $(and $(or $(if $(UNITS),,all),\
	$(filter $(UNITS),$(call unit_of,$t))),$(call is_found,$t)),$t))

# Run once more on a Redis Cluster: tests of records, and conversations.  Other
# end-to-end tests can be run with tests/testkit/on-cluster, unless they need
# their single Redis.
ON_CLUSTER := $(patsubst %.c,%,$(shell grep -l '^STATE_FIXTURE_ON_CLUSTER$$' \
	$(addsuffix .c,$(IT_TESTS)))) tests/e2e/conversation/test_conversation
CHOSEN_CLUSTER := $(filter $(ON_CLUSTER),$(CHOSEN))

# Started first, so that none of them is the only one at the end.
LONGEST := tests/e2e/growth/test_growth \
	tests/integration/memory-worker/test_chroma \
	tests/integration/chat-gateway/test_export \
	tests/integration/bus/test_cluster \
	tests/integration/emotion-engine/test_ticks \
	tests/unit/llm-orchestrator/test_turn_state_space \
	tests/e2e/outage/test_nats_cluster \
	tests/integration/chat-gateway/test_stream \
	tests/integration/llm-orchestrator/test_replicas \
	tests/integration/state/test_replication \
	tests/integration/llm/test_faults \
	tests/integration/body-sim/test_check \
	tests/integration/star-hub/test_session
LONGEST_LINT := tests/lint/cppcheck
CHOSEN_LONGEST := $(patsubst %,$(B)/%,$(filter $(LONGEST),$(CHOSEN))) \
	$(if $(WHOLE),$(LONGEST_LINT))

test: $(if $(UNITS),,all) $(CHOSEN:%=$(B)/%) \
    $(if $(WHOLE),$(LINT_NEEDS) $(FUZZ_NEEDS))
	@$(if $(strip $(WHOLE)$(CHOSEN)),,echo "no test or file is called that" >&2; exit 1)
	@$(if $(WHOLE),$(LINT_ENV)) SAN=$(SAN) TEST_FILTER='$(FILTER)' \
	    tests/testkit/run-tests -j $(TEST_J) \
	    $(CHOSEN_LONGEST) -- \
	    $(if $(WHOLE),$(filter-out $(LONGEST_LINT),$(LINT))) \
	    $(patsubst %,$(B)/%,$(filter-out $(LONGEST),$(CHOSEN))) \
	    $(CHOSEN_CLUSTER:%="tests/testkit/on-cluster $(B)/%") \
	    $(if $(WHOLE),tests/outage/nats-volume $(FUZZ_SMOKE))

# ---- the chart ---------------------------------------------------------------
# Not a part of "test", since it needs npm.  Without npm it is skipped with
# "0 passed, 0 failed".
HELM_TESTS := "tests/helm/chart old" "tests/helm/chart faults" \
	"tests/helm/chart migrate" "tests/helm/chart upgrade" \
	$(foreach h,helm3 helm4,$(foreach t,lint sets reject package,\
	    "tests/helm/chart $t $h")) \
	$(foreach s,nats redis mosquitto,"tests/helm/servers $s")
test-helm: $(STAMP) $(BROKER_GATE)
	@tests/helm/install; case $$? in \
	0) tests/testkit/run-tests -j $(J) $(HELM_TESTS) ;; \
	77) echo "0 passed, 0 failed" ;; \
	*) exit 1 ;; \
	esac

# ---- a fresh machine ---------------------------------------------------------
# The only target that must not install packages on this machine first.
test-fresh:
	@tests/fresh/run

# ---- the documents of the interfaces -----------------------------------------
# Needs npm, as test-helm does.
test-docs:
	@tests/docs/install; case $$? in \
	0) tests/testkit/run-tests -j $(J) "tests/docs/check openapi" \
	    "tests/docs/check asyncapi" ;; \
	77) echo "0 passed, 0 failed" ;; \
	*) exit 1 ;; \
	esac

# ---- the browser client ------------------------------------------------------
# Needs Node and perhaps npm, and with Chromium opens the demo page, too.
test-web: $(B)/bin/star-hub $(STAMP)
	@tests/web/install; case $$? in \
	0) STAR_BIN=$(B)/bin tests/testkit/run-tests -j $(J) tests/web/session.mjs \
	    tests/web/stories.mjs "env STAR_HUBS=2 tests/web/stories.mjs" \
	    tests/web/reconnect.mjs \
	    $$(tests/web/install --browser && echo tests/web/page.mjs) ;; \
	77) echo "0 passed, 0 failed" ;; \
	*) exit 1 ;; \
	esac

# ---- the console -------------------------------------------------------------
# Needs Node, Chromium and npm; each browser program has a stack of its own.
test-console: all $(MCP_SIM)
	@tests/console/install; case $$? in \
	0) STACK_BIN=$(B)/bin TEST_FILTER='$(FILTER)' tests/testkit/run-tests -j 2 \
	    tests/console/pure.mjs tests/console/flows.mjs tests/console/pages.mjs ;; \
	77) echo "0 passed, 0 failed" ;; \
	*) exit 1 ;; \
	esac

# ---- real engines ------------------------------------------------------------
# codex, gemini and opencode from npm, run through chat-gateway and engine-runner,
# with a simulated model behind the model proxy.  Some retry a failed call for a
# minute or more, so all three run at a time.
test-engines: $(B)/bin/engine-runner $(B)/bin/chat-gateway $(STAMP)
	@tests/engines/install; case $$? in \
	0) ENGINE_BIN=$(B)/bin TEST_FILTER='$(FILTER)' TEST_LIMIT=1800 \
	    tests/testkit/run-tests -j 3 "tests/engines/cases.mjs codex" \
	    "tests/engines/cases.mjs gemini" "tests/engines/cases.mjs opencode" ;; \
	77) echo "0 passed, 0 failed" ;; \
	*) exit 1 ;; \
	esac

# MCP servers from npm behind mcp-host.
test-mcp: all $(STAMP)
	@tests/mcp/install; case $$? in \
	0) export MCP_BIN=$(B)/bin TEST_FILTER='$(FILTER)'; \
	    tests/mcp/cases.mjs && tests/mcp/chats.mjs ;; \
	77) echo "0 passed, 0 failed" ;; \
	*) exit 1 ;; \
	esac

# Clients of other protocols from npm at a running stack.
test-doors: all $(STAMP)
	@tests/doors/install; case $$? in \
	0) DOORS_BIN=$(B)/bin TEST_FILTER='$(FILTER)' tests/doors/cases.mjs ;; \
	77) echo "0 passed, 0 failed" ;; \
	*) exit 1 ;; \
	esac

# One after the other, so that they do not distort each other's timings.
bench: all $(BENCHES:%=$(B)/%)
	@for b in $(BENCHES:%=$(B)/%); do echo "== $${b##*/}"; \
	    CK_VERBOSITY=silent $$b || :; done

# ZH_CORPUS=folder evaluates a corpus, ZH_VERBOSE=1 lists failures.
bench-zh: $(B)/tests/bench/zh/bench_zh
	@CK_VERBOSITY=silent $<

# Accuracy per phenomenon; LANGUAGE_VERBOSE=1 lists the lines that differ.
LANGUAGE := $(B)/tests/unit/zh/test_language \
	$(B)/tests/unit/emotion-engine/test_language_feelings \
	$(B)/tests/unit/intent-filter/test_language_intents
test-language: $(LANGUAGE)
	@for t in $(LANGUAGE); do CK_VERBOSITY=silent $$t || exit 1; done

soak: all $(SOAK_TESTS:%=$(B)/%) $(FUZZ_NEEDS)
	@SAN=$(SAN) TEST_LIMIT=14400 TEST_PROGRESS=1 tests/testkit/run-tests -j $(J) \
	    $(SOAK_TESTS:%=$(B)/%) $(FUZZ_SOAK)

# Needs a Docker engine, or root to start one.
test-compose: $(STAMP)
	@tests/compose/run

.PHONY: test test-fresh test-helm test-docs test-web test-console test-engines test-mcp test-doors test-compose test-language lint format bench bench-zh soak
