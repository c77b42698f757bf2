# Fuzzing: tests/fuzz/NAME.c is a libFuzzer target.  Included by the Makefile.
#
#   make fuzz T=60         every target for T seconds each
#
# A target links wire and core and what they use; LINKS_fuzz_NAME in links.mk
# names other libraries instead, SRC_fuzz_NAME further sources, PKG_fuzz_NAME
# what else these link with.
FUZZ := build/fuzz
FUZZ_FLAGS := -O1 -g -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_COMPILE = clang -std=c11 $(CPPFLAGS) $(WARN) $(FUZZ_FLAGS)
FUZZ_GEN_wire := $(FUZZ)/gen/wire/msgs.o $(FUZZ)/gen/wire/tables.o
FUZZ_GEN_state := $(FUZZ)/gen/state/scripts.o

$(FUZZ)/%.o: %.c | $(STAMP) $(GEN)/wire/msgs.h $(GEN)/state/scripts.h
	@mkdir -p $(@D) && echo "  CC      $@"
	@$(FUZZ_COMPILE) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<
$(FUZZ)/gen/%.o: $(GEN)/%.c | $(STAMP)
	@mkdir -p $(@D) && echo "  CC      $@"
	@$(FUZZ_COMPILE) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(foreach s,$(SERVICES),$(eval $(FUZZ)/services/$s/%.o: \
    private CPPFLAGS += -iquote services/$s))

fuzz_libs = $(call deps_of,$(or $(LINKS_fuzz_$(1)),wire core))
fuzz_srcs = tests/fuzz/$(1).c $(SRC_fuzz_$(1)) \
	$(foreach l,$(call fuzz_libs,$(1)),$(wildcard libs/$l/*.c))
define fuzz_rule
$(FUZZ)/$(1): $(patsubst %.c,$(FUZZ)/%.o,$(call fuzz_srcs,$(1))) \
    $(foreach l,$(call fuzz_libs,$(1)),$(FUZZ_GEN_$l))
	@echo "  LD      $$@"
	@clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $$@ $$^ \
	    $(call ldlibs,$(call fuzz_libs,$(1)),$(PKG_fuzz_$(1)))
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzz_rule,$f)))

# For make test and make soak.
FUZZ_NEEDS := $(FUZZERS:%=$(FUZZ)/%)
FUZZ_SMOKE := $(foreach f,$(FUZZERS),"tests/fuzz/run 3 $f")
FUZZ_SOAK := $(foreach f,$(FUZZERS),"tests/fuzz/run $(or $(T),600) $f")

fuzz: $(FUZZ_NEEDS)
	@TEST_PROGRESS=1 tests/fuzz/run $(or $(T),60) $(FUZZERS) 3>&1
-include $(shell find $(FUZZ) -name '*.d' 2>/dev/null)
.PHONY: fuzz
