# Soul: one non-recursive build.
#
#   make                 programs into build/release/bin (build/bin points there)
#   make test            lint, unit, integration and end-to-end tests
#   make test-helm       the chart in k8s/; needs npm
#   make test-fresh      README's first commands on a minimal Debian;
#                        needs root
#   make test-docs       openapi.yaml and asyncapi.yaml; needs npm
#   make test-web        star-hub's browser client; needs Node, and for the demo
#                        page Chromium
#   make test-console    the console in a browser; needs Node, npm and Chromium
#   make test-engines    real coding engines with a simulated model; needs Node
#                        and npm
#   make lint            check the code style
#   make bench           timings relative to a baseline of the same run; never fails
#   make soak            long tests: fuzzing, load with kills
#   make train-emotion   train the emotion recogniser on its own data set and the
#                        external one in EMOTION_DATA=folder
#   make bench-emotion   its accuracy, compared with fastText
#   make bench-zh        accuracy of datetime and number parsing (ZH_CORPUS=folder)
#   make fuzz T=seconds  every fuzzer for that long
#   make run             the whole stack on loopback; Ctrl-C stops it
#   make up, make down   the same in the background
#   make images          an image of each service
#   make images-offline  their base images, if no registry is reachable
#   make test-compose    test the images and deploy/compose.yaml
#   make deps            install missing Debian packages (root or sudo)
#   make docs            regenerate the generated documents
#   make format          format the C code with clang-format
#   make clean
#
# SAN=asan or SAN=tsan builds and tests with sanitizers in build/$(SAN);
# CC=clang builds with clang beside it.
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules --no-print-directory -j$(shell nproc)
SHELL := /bin/sh

include libs/layers.mk

# A prerequisite of all compilation; defined before its uses.
# DEPS="--for build" is what compiling needs, without the servers and the tests.
DEPS ?=
STAMP := build/.deps

ifeq ($(origin CC),default)
CC := gcc
endif
VARIANT := $(or $(SAN),release)$(if $(findstring clang,$(CC)),-clang)
B := build/$(VARIANT)
GEN := build/gen
CFLAGS ?= -O2 -g

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wvla \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wundef -Wformat=2 \
	-Wnull-dereference -Wimplicit-fallthrough -Werror
SAN_asan := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
SAN_tsan := -O1 -fno-omit-frame-pointer -fsanitize=thread
# Sanitizers break gcc's flow analysis for these warnings.
ifneq ($(SAN),)
WARN += -Wno-null-dereference -Wno-maybe-uninitialized \
	-Wno-format-truncation
endif
ifneq ($(findstring clang,$(CC)),)
WARN := $(filter-out -Wno-maybe-uninitialized -Wno-format-truncation,$(WARN))
endif
CPPFLAGS += -D_GNU_SOURCE -iquote libs -iquote $(GEN)
# Hardening: a memory error ends the program.  Sanitizers replace fortified
# functions; the supported level is probed once, when the compiler is installed.
GUARD_x86_64 := -fcf-protection
GUARD_aarch64 := -mbranch-protection=standard
GUARD := -fno-common -fstack-protector-strong $(GUARD_$(shell uname -m))
FORTIFY = $(eval FORTIFY := $(if $(SAN),,$(shell deploy/fortify $(CC))))$(FORTIFY)
COMPILE = $(CC) -std=c11 $(CPPFLAGS) $(GUARD) -fPIE $(WARN) $(CFLAGS) \
	$(FORTIFY) $(SAN_$(SAN))
LINK = $(CC) -pie -Wl,--as-needed,-z,relro,-z,now $(SAN_$(SAN)) $(LDFLAGS)

LIBS := $(notdir $(patsubst %/,%,$(wildcard libs/*/)))
SERVICES := $(notdir $(patsubst %/,%,$(dir $(wildcard services/*/main.c))))
UNIT_TESTS := $(patsubst %.c,%,$(wildcard tests/unit/*/test_*.c))
IT_TESTS := $(patsubst %.c,%,$(wildcard tests/integration/*/test_*.c))
E2E_TESTS := $(patsubst %.c,%,$(wildcard tests/e2e/*/test_*.c))
BENCHES := $(patsubst %.c,%,$(wildcard tests/bench/*/bench_*.c))
BROKER_GATE := $(B)/lib/mosquitto-gate.so
FUZZERS := $(notdir $(basename $(wildcard tests/fuzz/*.c)))
SCHEMAS := $(wildcard proto-schemas/*.json)
HEADERS := $(wildcard libs/*/*.h services/*/*.h services/*/*/*.h tests/testkit/*.h tests/testkit/stack/*.h)

all: $(SERVICES:%=$(B)/bin/%) $(BROKER_GATE)
ifeq ($(VARIANT),release)
	@ln -sfn release/bin build/bin
endif

# ---- sources and libraries of a unit (a library or a service) -----------------
# Sources are found in the unit's folder and in one level of folders below it;
# a folder that is a unit itself is excluded.
INNER := $(UNITS_INSIDE:%=services/%)
sources = $(filter-out $(addsuffix /%,$(filter-out $(1),$(INNER))),\
	$(wildcard $(1)/*.c $(1)/*/*.c))
objs = $(patsubst %.c,$(B)/%.o,$(call sources,$(1)))
closure = $(if $(1),$(1) $(call closure,$(foreach l,$(1),$(USES_$l))))
# Each library once, dependents before their dependencies.
uniq = $(if $(1),$(call uniq,$(filter-out $(lastword $(1)),$(1))) $(lastword $(1)))
deps_of = $(call uniq,$(call closure,$(1)))
roots = $(if $(wildcard libs/$(1)),$(1),$(USES_$(1)))
archives = $(patsubst %,$(B)/lib%.a,$(call deps_of,$(1)))
pkgs = $(sort $(foreach l,$(call deps_of,$(1)) $(2),$(PKG_$l)))
ldlibs = $(foreach l,$(call deps_of,$(1)) $(2),$(LDLIBS_$l)) \
	$(if $(call pkgs,$(1),$(2)),$$$$(pkg-config --libs $(call pkgs,$(1),$(2)))) \
	-lpthread -lm

# An archive and its objects.  Rebuilt also when an object is removed.
define archive_rule
$(1): $(2) $(1).members
	@rm -f $$@ && $(AR) rcs $$@ $$(filter %.o,$$^)
$(1).members: FORCE
	@mkdir -p $$(@D) && echo $(sort $(2)) >$$@.new; \
	if cmp -s $$@.new $$@; then rm $$@.new; else mv $$@.new $$@; fi
endef
lib_objs = $(call objs,libs/$(1)) \
	$(if $(filter wire,$(1)),$(B)/gen/wire/msgs.o $(B)/gen/wire/tables.o) \
	$(if $(filter state,$(1)),$(B)/gen/state/scripts.o)
# An archive, so that a test links only the objects it uses.
define service_rule
$(B)/bin/$(1): $(B)/services/$(1)/main.o $(B)/services/$(1).a \
    $(call archives,$(USES_$(1)))
	@mkdir -p $$(@D) && echo "  LD      $$@"
	@$(LINK) -o $$@ $$^ $(call ldlibs,$(USES_$(1)),$(1))
endef
$(foreach s,$(SERVICES),$(eval $(B)/services/$s/%.o: \
    private CPPFLAGS += -iquote services/$s))
$(foreach l,$(LIBS),$(eval $(call archive_rule,$(B)/lib$l.a,$(call lib_objs,$l))))
service_objs = $(filter-out %/main.o,$(call objs,services/$(1))) \
	$(if $(filter chat-gateway,$(1)),$(B)/gen/console/files.o)
$(foreach s,$(SERVICES),$(eval $(call service_rule,$s)) \
    $(eval $(call archive_rule,$(B)/services/$s.a,$(call service_objs,$s))))

# The weights are embedded in the service; the trainer shares its text processing.
# The trainer must not use fused multiply-add: its result is compared.
ENGINE := services/emotion-engine
TRAINER := $(B)/bin/emotion-trainer
TRAIN_OBJS := $(call objs,$(ENGINE)/trainer)
TRAIN_LIB := $(B)/$(ENGINE)/trainer.a
$(B)/$(ENGINE)/recognition/model.o: $(ENGINE)/emotion.weights
$(TRAIN_OBJS) $(B)/$(ENGINE)/recognition/model.o: private CFLAGS += -ffp-contract=off
$(TRAIN_OBJS): | $(GEN)/wire/msgs.h
$(eval $(call archive_rule,$(TRAIN_LIB),$(filter-out %/main.o,$(TRAIN_OBJS))))
$(TRAINER): $(B)/$(ENGINE)/trainer/main.o $(TRAIN_LIB) $(B)/$(ENGINE).a \
    $(call archives,$(USES_emotion-engine))
	@mkdir -p $(@D) && echo "  LD      $@"
	@$(LINK) -o $@ $^ \
	    $(subst $$$$,$$,$(call ldlibs,$(USES_emotion-engine),emotion-engine))
train-emotion: $(TRAINER)
	@$< train $(ENGINE)/emotion.weights $(EMOTION_DATA)
bench-emotion: $(TRAINER)
	@$< bench $(EMOTION_DATA)
.PHONY: train-emotion bench-emotion

# A shim is started for each attempt, with few libraries.
SHIM := $(B)/lib/soul/engine-shim
$(SHIM): $(B)/services/engine-runner/shim/main.o $(call archives,procsup)
	@mkdir -p $(@D) && echo "  LD      $@"
	@$(LINK) -o $@ $^ $(subst $$$$,$$,$(call ldlibs,procsup,))
$(B)/bin/engine-runner $(B)/bin/mcp-host: | $(SHIM)

# So are the pages of the hub.
$(B)/services/star-hub/web_files.o: $(wildcard services/star-hub/web/*)

# The console, which chat-gateway serves.
CONSOLE := services/chat-gateway/console
CONSOLE_SRC := $(wildcard $(addprefix $(CONSOLE)/,*.html *.css *.svg *.js */*.js))
$(B)/gen/console/files.o: private CPPFLAGS += -iquote services/chat-gateway
$(GEN)/console/files.c: $(CONSOLE)/embed $(CONSOLE_SRC) | $(STAMP)
	@mkdir -p $(@D) && echo "  GEN     $@"
	@$< $(@D) $(CONSOLE_SRC)

# The plugin of the MQTT broker.  Linked without libraries and sanitizers, since
# brokers may be built with another C library.
GATE_SRC := $(wildcard services/mqtt-bridge/broker-plugin/*.c) \
	$(addprefix libs/core/,clock.c id.c map.c mem.c rate.c str.c)
GATE_OBJS := $(GATE_SRC:%.c=$(B)/gate/%.o)
$(B)/gate/%.o: %.c Makefile | $(STAMP)
	@mkdir -p $(@D) && echo "  CC      $< (broker)"
	@$(CC) -std=c11 $(CPPFLAGS) $(GUARD) $(WARN) $(CFLAGS) -fPIC \
	    -fvisibility=hidden -ffunction-sections -fdata-sections -MMD -MP -c -o $@ $<
$(GATE_OBJS): private CPPFLAGS += -iquote services/mqtt-bridge
$(BROKER_GATE): $(GATE_OBJS)
	@mkdir -p $(@D) && echo "  LD      $@"
	@$(CC) -shared -nostdlib -Wl,--gc-sections,-z,relro,-z,now -o $@ $^

# ---- compiling ---------------------------------------------------------------
deps:
	@deploy/install-packages $(DEPS) && mkdir -p build && touch $(STAMP)
$(STAMP): deploy/packages.txt deploy/install-packages
	@deploy/install-packages $(DEPS) && mkdir -p build && touch $@

# The Makefile has the options, so a change of it recompiles everything.
$(B)/%.o: %.c Makefile | $(STAMP)
	@mkdir -p $(@D) && echo "  CC      $<"
	@$(COMPILE) -MMD -MP -c -o $@ $<
$(B)/gen/%.o: $(GEN)/%.c Makefile | $(STAMP)
	@mkdir -p $(@D) && echo "  CC      $<"
	@$(COMPILE) -MMD -MP -c -o $@ $<
-include $(shell find $(B) -name '*.d' 2>/dev/null)

# The generator runs at build time, so it is built without sanitizers, from its
# own sources and the parts of core and wire it needs.
WIREGEN := build/wiregen
WIREGEN_SRC := $(wildcard proto-schemas/gen/*.c) \
	$(addprefix libs/core/,mem.c str.c buf.c rc.c) \
	$(addprefix libs/wire/,check.c out.c)
$(WIREGEN): $(WIREGEN_SRC) \
    $(wildcard proto-schemas/gen/*.h libs/core/*.h) \
    $(addprefix libs/wire/,check.h desc.h out.h schema.h wire.h wire_internal.h) | $(STAMP)
	@mkdir -p $(@D) && echo "  GEN     $@"
	@gcc -std=c11 -D_GNU_SOURCE -iquote libs $(WARN) -O1 -g -o $@ $(WIREGEN_SRC) \
	    $$(pkg-config --cflags --libs jansson) -lm
$(GEN)/wire/msgs.h: $(WIREGEN) $(SCHEMAS)
	@mkdir -p $(@D) && $(WIREGEN) code proto-schemas $(@D)
$(GEN)/wire/msgs.c $(GEN)/wire/tables.c: $(GEN)/wire/msgs.h ;
# Schemas of the tests, with every keyword in them.
$(GEN)/probe/msgs.h: $(WIREGEN) $(wildcard tests/unit/wire/probe/*.json)
	@mkdir -p $(@D) && $(WIREGEN) code tests/unit/wire/probe $(@D)
$(GEN)/probe/msgs.c: $(GEN)/probe/msgs.h ;
$(patsubst %,$(B)/%.o,$(filter tests/unit/wire/%,$(UNIT_TESTS))): \
    | $(GEN)/probe/msgs.h

# The Lua scripts of libs/state, with their keys and limits, as C.
LUA_SRC := libs/state/keys.h libs/core/rc.h $(wildcard libs/state/scripts/*.lua)
$(GEN)/state/scripts.h: libs/state/scripts/embed.awk $(LUA_SRC) | $(STAMP)
	@rm -rf $(@D) && mkdir -p $(@D)/lua && echo "  GEN     $(@D)"
	@awk -v out=$(@D) -f $< $(LUA_SRC)
$(GEN)/state/scripts.c: $(GEN)/state/scripts.h ;
$(call objs,libs/state): | $(GEN)/state/scripts.h

# Rewritten only when it changes, so that a commit does not rebuild everything.
VERSION := 0.2.0
REVISION ?= $(shell git rev-parse --short HEAD 2>/dev/null)
$(GEN)/version.h: FORCE
	@mkdir -p $(@D) && c=$(REVISION); \
	echo "#define SOUL_VERSION \"$(VERSION)$${c:++$$c}\"" >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(B)/libs/svc/config.o: $(GEN)/version.h

# Committed, so that they can be read without building; lint-docs says when
# they are stale.
docs: $(WIREGEN) $(SERVICES:%=$(B)/bin/%)
	@$(WIREGEN) docs proto-schemas proto-schemas
	@$(WIREGEN) rights proto-schemas deploy
	@tests/lint/config-tables --write $(B)/bin
	@tests/lint/chart-settings --write $(B)/bin
	@tests/lint/limits --write $(B)/bin
lint-docs: $(WIREGEN)
	@tests/lint/docs

-include tests/links.mk
include tests/fuzz/fuzz.mk
include tests/tests.mk
LINT += tests/lint/docs tests/alerts/run

# Images: see deploy/Dockerfile; without a registry, run images-offline first.
images:
	@deploy/build-images
images-offline:
	@deploy/install-packages --for build packages-docker.txt
	@deploy/images-offline

run up: all $(MCP_SIM)
	@STACK_BIN=$${STACK_BIN:-$(B)/bin} deploy/stack $@
down:
	@deploy/stack down

clean:
	rm -rf build

FORCE:
.PHONY: all deps docs lint-docs images images-offline run up down clean FORCE
.SECONDARY:
