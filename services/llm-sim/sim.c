/*
 * Answers in the form of an OpenAI-compatible server, whole or in pieces, with
 * the faults of the script.
 */
#include "sim.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/loop.h"
#include "core/mem.h"
#include "embed.h"
#include "rules.h"
#include "script.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/out.h"

/* A piece of a stream has so many code points. */
#define PIECE 4
#define MODEL "soul-sim"
/* Longest arguments, with a text that is said within. */
#define ARGUMENTS_MAX (256 * 1024)

struct sim {
	const struct sim_conf *conf;
	struct svc *svc;
	struct script script;
	int64_t answers; /* so far; ids are made of it */
};

/* An answer on its way. */
struct job {
	struct sim *sim;
	struct svc_call *c;
	struct wire_llm_sim_script_faults fault;
	struct rules_answer answer;
	struct wire_llm_tool_call calls[RULES_CALLS_MAX];
	struct str id;
	struct loop_timer timer;
	size_t at; /* bytes of the text that are out */
};

void *
sim_start(struct svc *s, const void *conf)
{
	struct sim *sim = mem_zalloc(sizeof(*sim));

	sim->conf = conf;
	sim->svc = s;
	return sim;
}

void
sim_stop(void *app)
{
	free(app);
}

/* The arguments as servers send them: a text of JSON, as JSON. */
static struct str
as_text(struct str arguments, struct arena *a)
{
	struct buf b = BUF_INIT(ARGUMENTS_MAX);
	struct wire_out o = { .b = &b };
	struct str s;

	wire_out_str(&o, arguments);
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
fill_calls(struct job *j)
{
	bool bad =
	    j->fault.kind == WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_BAD_ARGUMENTS;
	struct arena *a = svc_call_arena(j->c);
	size_t i;

	for (i = 0; i < j->answer.n; i++) {
		const struct rules_call *call = &j->answer.calls[i];

		j->calls[i] = (struct wire_llm_tool_call){
			.has_index = true,
			.index = (int64_t)i,
			.id = arena_printf(a, RULES_CALL_ID "%lld_%zu",
			    (long long)j->sim->answers, i),
			.type = STR("function"),
			.has_function = true,
			.function = { .name = str_of(call->name),
			    .arguments = as_text(
				bad ? STR("{\"action\":") : call->arguments,
				a) },
		};
	}
}

static void
job_free(struct job *j)
{
	loop_timer_cancel(svc_loop(j->sim->svc), &j->timer);
	free(j);
}

/* ---- in one piece ----------------------------------------------------------
 */

static void
answer_whole(struct job *j)
{
	struct wire_llm_chat_response_choices choice = {
		.has_index = true,
		.message = { .role = STR("assistant"),
		    .content = j->answer.text,
		    .tool_calls = j->calls,
		    .n_tool_calls = j->answer.n,
		    .has_tool_calls = j->answer.n > 0 },
		.finish_reason =
		    j->answer.n > 0 ? STR("tool_calls") : STR("stop"),
	};
	struct wire_llm_chat_response rep = {
		.id = j->id,
		.object = STR("chat.completion"),
		.has_created = true,
		.created = clock_wall().ms / 1000,
		.model = STR(MODEL),
		.choices = &choice,
		.n_choices = 1,
	};

	/* The reply holds the job's tool calls. */
	svc_reply(j->c, &rep);
	job_free(j);
}

/* ---- as a stream ------------------------------------------------------------
 */

static enum rc
send_delta(struct job *j, const struct wire_llm_chat_chunk_choices_delta *delta,
    const char *finish)
{
	struct wire_llm_chat_chunk_choices choice = { .has_index = true,
		.has_delta = true,
		.delta = *delta,
		.finish_reason = str_of(finish) };
	struct wire_llm_chat_chunk chunk = {
		.id = j->id,
		.object = STR("chat.completion.chunk"),
		.has_created = true,
		.created = clock_wall().ms / 1000,
		.model = STR(MODEL),
		.has_choices = true,
		.choices = &choice,
		.n_choices = 1,
	};

	return svc_stream_send(
	    j->c, NULL, NULL, &wire_llm_chat_chunk_desc, &chunk);
}

static void
stream_end(struct job *j, enum rc rc)
{
	struct svc_call *c = j->c;

	job_free(j);
	svc_stream_end(c, rc);
}

static struct str
next_piece(const struct job *j)
{
	struct str s = { j->answer.text.p + j->at, j->answer.text.n - j->at };
	size_t pos = 0;
	int i;

	for (i = 0; i < PIECE && str_utf8_next(s, &pos) >= 0; i++)
		continue;
	return (struct str){ s.p, pos };
}

static void
send_piece(void *arg)
{
	struct job *j = arg;
	struct str piece = next_piece(j);
	bool cut = j->fault.kind == WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_CUT;
	enum rc rc = RC_OK;

	if (piece.n > 0) {
		rc = send_delta(j,
		    &(struct wire_llm_chat_chunk_choices_delta){
			.content = piece },
		    NULL);
		j->at += piece.n;
		if (rc != RC_OK || (cut && j->at >= j->answer.text.n / 2)) {
			stream_end(j, rc);
			return;
		}
		loop_timer_set(svc_loop(j->sim->svc), &j->timer,
		    mono_add_ms(clock_mono(), j->sim->conf->token_ms),
		    send_piece, j);
		return;
	}
	rc = send_delta(j, &(struct wire_llm_chat_chunk_choices_delta){ 0 },
	    j->answer.n > 0 ? "tool_calls" : "stop");
	if (rc == RC_OK)
		rc = svc_stream_text(j->c, STR("[DONE]"));
	stream_end(j, rc);
}

static void
answer_stream(struct job *j)
{
	struct wire_llm_chat_chunk_choices_delta first = {
		.role = STR("assistant"),
		.tool_calls = j->calls,
		.n_tool_calls = j->answer.n,
		.has_tool_calls = j->answer.n > 0,
	};

	if (svc_stream(j->c) != RC_OK) {
		answer_whole(j);
		return;
	}
	if (send_delta(j, &first, NULL) != RC_OK) {
		stream_end(j, RC_DOWN);
		return;
	}
	send_piece(j);
}

/* ---- faults, then the answer ------------------------------------------------
 */

static bool
answer_fault(struct job *j)
{
	struct svc_error e;

	switch (j->fault.kind) {
	case WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_RATE_LIMIT:
		e = (struct svc_error){ 429, "rate_limit_exceeded",
			"slow down" };
		break;
	case WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_QUOTA:
		e = (struct svc_error){ 429, "insufficient_quota",
			"the quota is spent" };
		break;
	case WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_ERROR:
		e = (struct svc_error){ 500, "server_error", "it broke" };
		break;
	default:
		return false;
	}
	svc_fail_as(j->c, &e);
	return true;
}

static void
begin(void *arg)
{
	struct job *j = arg;
	const struct wire_llm_chat_request *req = svc_call_request(j->c);

	if (answer_fault(j))
		job_free(j);
	else if (req->has_stream && req->stream)
		answer_stream(j);
	else
		answer_whole(j);
}

void
on_chat(void *app, struct svc_call *c)
{
	struct sim *sim = app;
	struct arena *a = svc_call_arena(c);
	struct job *j = mem_zalloc(sizeof(*j));
	int64_t wait;

	j->sim = sim;
	j->c = c;
	j->fault = script_next(&sim->script);
	sim->answers++;
	if (rules_answer(svc_call_request(c), a, &j->answer) != RC_OK) {
		free(j);
		svc_fail(c, RC_TOOBIG, "the request is too large to simulate");
		return;
	}
	j->id = arena_printf(a, "chatcmpl-sim-%lld", (long long)sim->answers);
	fill_calls(j);
	wait = sim->conf->first_ms + j->fault.delay_ms;
	loop_timer_set(svc_loop(sim->svc), &j->timer,
	    mono_add_ms(clock_mono(), wait), begin, j);
}

void
on_embeddings(void *app, struct svc_call *c)
{
	const struct wire_llm_embeddings_request *req = svc_call_request(c);
	struct arena *a = svc_call_arena(c);
	struct wire_llm_embeddings_response rep = { .object = STR("list"),
		.model = STR(MODEL) };
	size_t i;

	(void)app;
	rep.data = arena_alloc(a, req->n_input * sizeof(*rep.data) + 1);
	for (i = 0; rep.data != NULL && i < req->n_input; i++) {
		double *v = arena_alloc(a, EMBED_DIM * sizeof(*v));

		if (v == NULL)
			break;
		embed_text(req->input[i], v);
		rep.data[rep.n_data++] =
		    (struct wire_llm_embeddings_response_data){
			    .object = STR("embedding"),
			    .has_index = true,
			    .index = (int64_t)i,
			    .embedding = v,
			    .n_embedding = EMBED_DIM
		    };
	}
	if (rep.n_data < req->n_input)
		svc_fail(c, RC_TOOBIG, "too many texts");
	else
		svc_reply(c, &rep);
}

void
on_script(void *app, struct svc_call *c)
{
	struct sim *sim = app;

	script_set(&sim->script, svc_call_request(c));
	svc_reply(c, &(struct wire_ok_response){ .ok = true });
}
