/*
 * chaos_load: clients of a stack who go on whatever is broken, and record it.
 *
 * Each is a thread: turns by intents and by the model, plain and streamed,
 * retried with the same ids, given up and canceled; souls, profiles, bindings,
 * sessions and facts to be remembered are written and deleted.
 */
#ifndef TESTKIT_STACK_CHAOS_LOAD_H
#define TESTKIT_STACK_CHAOS_LOAD_H

#include <stdbool.h>

#include "testkit/chaos.h"
#include "testkit/stack/stack.h"

#define CHAOS_BROKERS 2

struct chaos_load;

/* What the load needs of the stack: variables of its services. */
#define CHAOS_ENV                                                           \
	[STACK_LLM_SIM] = { "LLM_SIM_FIRST_MS=20", "LLM_SIM_TOKEN_MS=3" },  \
	[STACK_BODY_SIM] = { "BODY_COUNT=2" },                              \
	[STACK_CHAT_GATEWAY] = { "RATE_ADDRESS_PER_S=0" },                  \
	[STACK_MEMORY_WORKER] = { "IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=0.5", \
		"IDLE_SUMMARY_CLAIM_SECONDS=20" },                          \
	[STACK_LLM_ORCHESTRATOR] = { "USER_IDLE_TIMEOUT_SECONDS=3",         \
		"SESSION_COMPRESS_MSG_THRESHOLD=2000" },                    \
	[STACK_MQTT_BRIDGE] = { "RATE_TERMINAL_BURST=100000",               \
		"RATE_TERMINAL_PER_S=100000" }

/*
 * chaos_load_begin(st, h, ports, n): Bind bodies, and start the clients.  The
 * bodies connect to the n (1 to CHAOS_BROKERS) brokers at these ports.
 *
 * chaos_load_resumes(l, ms): Whether each client gets two more turns
 * acknowledged within ms.
 * chaos_load_break(l, seed): The connection of some bodies breaks; where there
 * are two brokers, they move.
 *
 * chaos_load_end(l): The clients end their sessions, read back everything, and
 * are freed.
 */
struct chaos_load *chaos_load_begin(
    struct stack *st, struct chaos *h, const int *ports, int n);
bool chaos_load_resumes(struct chaos_load *l, int ms);
void chaos_load_break(struct chaos_load *l, unsigned seed);
void chaos_load_end(struct chaos_load *l);

#endif /* !TESTKIT_STACK_CHAOS_LOAD_H */
