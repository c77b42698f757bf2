/*
 * Latency of a chunk of text from a provider to on_text, beside a bare HTTP
 * client on the same loop.
 */
#include <stdio.h>

#include "llm/llm.h"
#include "testkit/figures.h"
#include "testkit/httpc_fixture.h"

#define WARMUP 200
#define CHUNKS 4000

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define OPENAI                                                      \
	"data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\"," \
	"\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"  \
	"\"delta\":{\"content\":\"text\"},\"finish_reason\":null}]}\n\n"
#define ANTHROPIC                                              \
	"event: content_block_delta\n"                         \
	"data: {\"type\":\"content_block_delta\",\"index\":0," \
	"\"delta\":{\"type\":\"text_delta\",\"text\":\"text\"}}\n\n"

static const char *_Atomic part;
static _Atomic size_t shown;
static double took[CHUNKS];
static _Atomic double sent_ns;

static bool
has_shown(size_t n)
{
	while (shown < n)
		if (tk_now_ns() - sent_ns > 2e9)
			return false;
	return true;
}

/* Send one chunk after the previous one was delivered. */
static void
provider(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	(void)p;
	if (raw_server_read(fd, &in) && raw_server_write(fd, HEAD))
		for (size_t i = 0; i < WARMUP + CHUNKS; i++) {
			sent_ns = tk_now_ns();
			if (!raw_server_write(fd, part) || !has_shown(i + 1))
				break;
		}
	buf_free(&in);
}

static void
note(void)
{
	double ns = tk_now_ns() - sent_ns;

	if (shown >= WARMUP && shown < WARMUP + CHUNKS)
		took[shown - WARMUP] = ns;
	shown++;
}

static void
on_text(void *arg, struct str text)
{
	(void)arg;
	(void)text;
	note();
}

static enum rc
on_chunk(void *arg, struct httpc_call *call, struct str chunk)
{
	(void)arg;
	(void)call;
	if (chunk.n > 0)
		note();
	return RC_OK;
}

static _Atomic bool done;

static void
on_llm_done(void *arg, const struct llm_result *r)
{
	(void)arg;
	(void)r;
	done = true;
}

static void
on_http_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *answer)
{
	(void)arg;
	(void)call;
	(void)rc;
	(void)answer;
	done = true;
}

static struct httpc_fixture scene;
static struct llm *llm;

static void
request_bare(void *arg)
{
	(void)arg;
	ck_assert_int_eq(httpc_start(scene.c,
			     &(struct httpc_request){ .method = "POST",
				 .url = scene.url,
				 .body = STR_INIT("{}"),
				 .deadline = { clock_wall().ms + 60000 },
				 .body_max = 64 * 1024 * 1024,
				 .on_chunk = on_chunk,
				 .on_done = on_http_done },
			     NULL),
	    RC_OK);
}

static void
request_llm(void *arg)
{
	static const struct llm_message hello = { .role = LLM_USER,
		.text = STR_INIT("hello") };

	(void)arg;
	ck_assert_int_eq(llm_chat(llm,
			     &(struct llm_chat){ .messages = &hello,
				 .nmessages = 1,
				 .temperature = -1,
				 .deadline = { clock_wall().ms + 60000 },
				 .stream = true,
				 .on_text = on_text,
				 .on_done = on_llm_done },
			     NULL),
	    RC_OK);
}

static bool
is_done(void *arg)
{
	(void)arg;
	return done;
}

static void
run(const char *name, const char *bytes, loop_fn request)
{
	part = bytes;
	shown = 0;
	done = false;
	tk_loop_call(&scene.k, request, NULL);
	ck_assert(tk_until(is_done, NULL, 60000));
	ck_assert_uint_ge(shown, WARMUP + CHUNKS);
	tk_sort(took, CHUNKS);
	printf("%-22s p50 %6.1f us   p99 %6.1f us\n", name,
	    took[CHUNKS / 2] / 1e3, took[CHUNKS * 99 / 100] / 1e3);
}

static void
make(void *arg)
{
	ck_assert_int_eq(llm_new(&(struct llm_opts){ .loop = scene.k.l,
				     .providers = arg,
				     .nproviders = 1 },
			     &llm),
	    RC_OK);
}

static void
unmake(void *arg)
{
	(void)arg;
	llm_free(llm);
}

TEST_T(a_chunk_of_text, 120)
{
	struct llm_provider p = { .model = "m" };

	httpc_fixture_open(
	    &scene, provider, (struct httpc_opts){ .active_max = 0 });
	p.base_url = scene.url;
	run("bare HTTP client", OPENAI, request_bare);
	tk_loop_call(&scene.k, make, &p);
	run("llm, OpenAI", OPENAI, request_llm);
	tk_loop_call(&scene.k, unmake, NULL);
	p.kind = LLM_ANTHROPIC;
	tk_loop_call(&scene.k, make, &p);
	run("llm, Anthropic", ANTHROPIC, request_llm);
	tk_loop_call(&scene.k, unmake, NULL);
	httpc_fixture_close(&scene);
}
