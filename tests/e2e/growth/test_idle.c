/*
 * What an idle stack takes: the memory of each service, and the connections
 * that its HTTP workers are there for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "testkit/cases.h"
#include "testkit/http.h"
#include "testkit/stack/client.h"

#define IDLE_KIB (12 * 1024)
/* Webhooks need libcurl, whose libraries are 5 MiB, most of them shared. */
#define GATEWAY_KIB (18 * 1024)
/* Sanitizers multiply what a process has in memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURED false
#else
#define MEASURED true
#endif

/* Kept-alive clients of one service, and requests of each. */
#define CLIENTS  64
#define REQUESTS 5

STACK_SHARED({ .no_capture = true })

TEST_T(an_idle_service_takes_little_memory, 120)
{
	long kib[STACK_SERVICES];
	int s;

	for (s = 0; s < STACK_SERVICES; s++) {
		pid_t pid = stack.service[s].proc.pid;

		kib[s] = tk_proc_status(pid, "VmRSS");
		printf("%s: %ld KiB, %ld threads\n", stack_name(s), kib[s],
		    tk_proc_status(pid, "Threads"));
		ck_assert_int_gt(kib[s], 0);
	}
	(void)fflush(stdout);
	for (s = 0; MEASURED && s < STACK_SERVICES; s++)
		ck_assert_msg(kib[s] <=
			(s == STACK_CHAT_GATEWAY ? GATEWAY_KIB : IDLE_KIB),
		    "%s has %ld KiB", stack_name(s), kib[s]);
}

/* All clients send before any of them reads, and no connection is closed. */
static void
serve_clients(enum stack_service s, const char *request)
{
	static struct tk_http c[CLIENTS];
	struct tk_response a = { 0 };

	for (size_t i = 0; i < CLIENTS; i++)
		tk_http_open(&c[i], stack.service[s].http);
	for (size_t n = 0; n < REQUESTS; n++) {
		for (size_t i = 0; i < CLIENTS; i++)
			ck_assert(tk_http_puts(&c[i], request));
		for (size_t i = 0; i < CLIENTS; i++) {
			ck_assert_msg(tk_http_read(&c[i], &a, STACK_MS),
			    "%s closed connection %zu", stack_name(s), i);
			ck_assert_msg(a.status == 200, "%s: %d %.*s",
			    stack_name(s), a.status, STR_ARG(buf_str(&a.body)));
			tk_response_free(&a);
		}
	}
	for (size_t i = 0; i < CLIENTS; i++)
		tk_http_close(&c[i]);
}

TEST_T(sixty_four_persistent_clients_are_served, 120)
{
	json_t *j =
	    tk_case_data("intent_filter_request", "protocol 02-22, 4.4.1");
	char *command = json_dumps(j, JSON_COMPACT);
	struct arena *a = arena_new(16384);
	struct str post = arena_printf(a,
	    "POST /v1/intents/filter HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(command), command);

	serve_clients(STACK_INTENT_FILTER, post.p);
	serve_clients(STACK_EMOTION_ENGINE,
	    "GET /v1/emotion/pad-table HTTP/1.1\r\nHost: localhost\r\n\r\n");
	arena_free(a);
	free(command);
	json_decref(j);
}
