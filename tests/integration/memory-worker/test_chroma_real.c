/*
 * memory-worker with a real Chroma server: the npm package chromadb ships one.
 * Skipped, and said so, where npm is not there or cannot fetch it.
 *
 * The version is the newest whose server runs with Debian 12's libc.
 */
#include <sys/stat.h>

#include "chroma_life.h"

#define PACKAGE "chromadb@3.0.0"
#define FOLDER  "build/chroma"
#define PROGRAM FOLDER "/node_modules/.bin/chroma"

/* Fetch it once; false if that cannot be. */
static bool
fetched(void)
{
	static const char *const argv[] = { "/bin/sh", "-c",
		"command -v npm >/dev/null 2>&1 && "
		"exec npm install --no-audit --no-fund --fetch-retries=0 "
		"--fetch-timeout=20000 --prefix " FOLDER " " PACKAGE,
		NULL };
	struct tk_proc p;
	struct stat st;

	if (stat(PROGRAM, &st) == 0)
		return true;
	tk_spawn(&p, "npm", argv, NULL);
	if (tk_wait(&p, 60000) < 0) {
		tk_signal(&p, SIGKILL);
		(void)tk_wait(&p, 10000);
	}
	return stat(PROGRAM, &st) == 0;
}

static bool
answers(void *arg)
{
	struct tk_answer a = { 0 };
	int port = *(int *)arg, status;

	if (!tk_port_open(port))
		return false;
	status = tk_http_ask(port, &a, "GET", "/api/v2/heartbeat", NULL);
	tk_answer_free(&a);
	return status == 200;
}

static void
chroma_start(struct tk_proc *p, int *port)
{
	char text[16];
	const char *const argv[] = { PROGRAM, "run", "--path",
		tk_path("chroma"), "--port", text, NULL };

	*port = tk_port();
	snprintf(text, sizeof(text), "%d", *port);
	tk_spawn(p, "chroma", argv, NULL);
	ck_assert(tk_until(answers, port, BED_MS));
}

/* Drop the collection, as an operator does. */
static void
chroma_drop(int port)
{
	struct tk_answer a = { 0 };

	ck_assert_int_eq(
	    tk_http_ask(port, &a, "DELETE",
		"/api/v2/tenants/default_tenant/databases/default_database/"
		"collections/long_term_memory",
		NULL),
	    200);
	tk_answer_free(&a);
}

TEST_T(a_real_server, 150)
{
	static char url[96];
	struct tk_proc chroma;
	struct bed b;
	int port;

	if (!fetched()) {
		printf("skipped: no npm, or it cannot fetch " PACKAGE
		       ": memory-worker was not tried with a real Chroma\n");
		return;
	}
	chroma_start(&chroma, &port);
	bed_servers(&b);
	life_workers(&b, port);
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	life(&b);
	life_many(&b, 300);
	/* The collection goes, and comes again. */
	chroma_drop(port);
	bed_job(&b, "last", "s1", "用户喜欢乌龙茶");
	life_done(&b);
	ck_assert_uint_eq(life_recall(&b, "u1", "s1", "茶", NULL, false), 1);
	/* It is of vectors of spelling, and says so. */
	tk_service_end(&b.worker[0]);
	bed_llm(&b);
	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", b.llm_url);
	b.more[4] = url;
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	ck_assert(!life_ready(&b));
	ck_assert_uint_eq(
	    life_recall(&b, "u1", "s1", "乌龙茶", "用户喜欢乌龙茶", true), 1);
	chroma_drop(port);
	ck_assert(tk_until(life_ready, &b, BED_MS));
	bed_stop(&b);
	tk_signal(&chroma, SIGTERM);
	ck_assert_int_ge(tk_wait(&chroma, 20000), 0);
}
