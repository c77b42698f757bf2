/*
 * The time of a call of a tool through mcp-host, compared with a direct one
 * over the pipes of the same server, in turns; and of ranking a thousand tools.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/json.h"
#include "testkit/mcp_fixture.h"
#include "tool_rank.h"

#define SIM_TOOLS 6
#define ROUNDS    9
#define PER_ROUND 200
#define SAMPLES   (ROUNDS * PER_ROUND)
#define SERVERS   40
#define OF_EACH   25
#define RANKINGS  1000

/* ---- a direct call ---- */

static FILE *to, *from;
static pid_t server;

static void
direct_start(void)
{
	int in[2], out[2];

	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(tk_bin("mcp-sim"), "mcp-sim", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	to = fdopen(in[1], "w");
	from = fdopen(out[0], "r");
	ck_assert(to != NULL && from != NULL);
}

static void
direct_stop(void)
{
	fclose(to);
	fclose(from);
	ck_assert_int_eq(waitpid(server, NULL, 0), server);
}

static void
direct_call(int id)
{
	char line[4096];

	fprintf(to,
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}}}\n",
	    id);
	fflush(to);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), from));
	ck_assert_ptr_nonnull(strstr(line, "\"result\""));
}

/* ---- a call through mcp-host ---- */

static struct mcp_fixture f;
static natsSubscription *replies;
static char definition[128];

static void
host_start(void)
{
	json_t *j;

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	j = mh_list(&f, "", 64);
	snprintf(definition, sizeof(definition), "%s",
	    tk_text(j, "tools.0.definition"));
	json_decref(j);
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	replies = tk_nats_listen(f.nc, "_INBOX.bench");
}

static void
host_call(int id)
{
	char body[1024];
	natsMsg *m;
	bool ended = false;

	snprintf(body, sizeof(body),
	    "{\"call_id\":\"b%d\",\"user_id\":\"ann\",\"soul_id\":\"s1\","
	    "\"session_id\":\"x1\",\"turn_id\":\"t1\",\"name\":\"sim__echo\","
	    "\"definition\":\"%s\",\"arguments\":{\"text\":\"x\"}}",
	    id, definition);
	ck_assert_int_eq(natsConnection_PublishRequestString(f.nc,
			     "soul.tool.mcp-host.call", "_INBOX.bench", body),
	    NATS_OK);
	natsConnection_Flush(f.nc);
	while (!ended) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, replies, MH_MS), NATS_OK);
		ended =
		    memmem(natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m),
			"\"ended\"", 7) != NULL;
		if (ended)
			ck_assert_ptr_nonnull(memmem(natsMsg_GetData(m),
			    (size_t)natsMsg_GetDataLength(m), "\"ok\":true",
			    9));
		natsMsg_Destroy(m);
	}
}

/* ---- rounds ---- */

static void
time_round(void (*call)(int id), double *us, size_t *n)
{
	for (int i = 0; i < PER_ROUND; i++) {
		double began = tk_now_ns();

		call((int)*n);
		us[(*n)++] = (tk_now_ns() - began) / 1000.0;
	}
}

static void
print_times(const char *name, double *us, size_t n)
{
	tk_sort(us, n);
	printf("%-16s %8.0f %8.0f\n", name, us[n / 2], us[n * 99 / 100]);
}

TEST_T(calls_of_a_tool, 300)
{
	static double direct[SAMPLES], host[SAMPLES];
	size_t n_direct = 0, n_host = 0;

	direct_start();
	host_start();
	tk_print_load();
	for (int i = 0; i < ROUNDS; i++) {
		time_round(direct_call, direct, &n_direct);
		time_round(host_call, host, &n_host);
	}
	printf("%-16s %8s %8s us\n", "a call", "p50", "p99");
	print_times("over its pipes", direct, n_direct);
	print_times("through mcp-host", host, n_host);
	printf("mcp-host adds %.0f us at p50\n",
	    host[n_host / 2] - direct[n_direct / 2]);
	natsSubscription_Destroy(replies);
	direct_stop();
	mh_stop(&f);
}

TEST_T(ranking_a_thousand_tools, 120)
{
	static char names[SERVERS * OF_EACH][32], texts[SERVERS * OF_EACH][96];
	static struct tool_rank_text list[SERVERS * OF_EACH];
	static double us[RANKINGS];
	static const struct tool_rank_query q = {
		.text =
		    STR_INIT("please store this note and send it to tool 7"),
		.max = SERVERS * OF_EACH
	};
	static uint32_t out[SERVERS * OF_EACH];
	struct tool_rank *r;

	for (size_t i = 0; i < NELEM(list); i++) {
		snprintf(names[i], sizeof(names[i]), "tool_%zu_of_%zu",
		    i % OF_EACH, i / OF_EACH);
		snprintf(texts[i], sizeof(texts[i]),
		    "Stores, reads or sends a note of kind %zu for room %zu.",
		    i % OF_EACH, i / OF_EACH);
		list[i] = (struct tool_rank_text){ .name = str_of(names[i]),
			.description = str_of(texts[i]) };
	}
	r = tool_rank_new(list, NELEM(list));
	for (size_t i = 0; i < NELEM(us); i++) {
		double began = tk_now_ns();

		ck_assert_uint_eq(tool_rank_find(r, &q, out), NELEM(list));
		us[i] = (tk_now_ns() - began) / 1000.0;
	}
	tool_rank_free(r);
	printf("%-16s %8s %8s us\n", "ranking", "p50", "p99");
	print_times("1,000 tools", us, NELEM(us));
}
