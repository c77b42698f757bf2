/*
 * Requests, each with its fault of the script: the response is composed at
 * once, as bytes, and sent chunk by chunk.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/loop.h"
#include "core/mem.h"
#include "rules.h"
#include "shape.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/out.h"

#define KIND(k) WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_##k

struct sim {
	const struct sim_conf *conf;
	struct svc *svc;
	struct script script;
	int64_t responses; /* so far; part of generated ids */
};

/* A response being sent. */
struct job {
	struct sim *sim;
	struct svc_call *c;
	bool anthropic, chunked, persistent, bytewise, truncate;
	int status;
	int64_t chunk_ms;
	struct buf head;
	struct shape_out out;
	struct loop_timer timer;
	size_t at, chunk; /* bytes and chunks sent */
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
	struct sim *sim = app;

	script_free(&sim->script);
	free(sim);
}

/* ---- content ---- */

static void
sim_shape_of_rules(struct sim *sim, struct arena *a,
    const struct rules_result *from, bool bad, struct shape *s)
{
	s->text = from->text;
	s->ncalls = from->n;
	for (size_t i = 0; i < from->n; i++)
		s->calls[i] = (struct shape_call){
			.id = arena_printf(a, RULES_CALL_ID "%lld_%zu",
			    (long long)sim->responses, i),
			.name = str_of(from->calls[i].name),
			.arguments = bad ? STR("{\"action\":")
					 : from->calls[i].arguments,
		};
}

static void
sim_shape_of_script(struct sim *sim, struct arena *a,
    const struct wire_llm_sim_script_faults *f, struct shape *s)
{
	s->text = f->text;
	s->reasoning = f->reasoning;
	s->reasoning_as = f->reasoning_as;
	s->finish = f->finish;
	s->error = f->body;
	for (size_t i = 0; i < f->n_quirks; i++)
		s->quirks |= UINT64_C(1) << f->quirks[i];
	s->ncalls = f->n_calls < SHAPE_CALLS_MAX ? f->n_calls : SHAPE_CALLS_MAX;
	for (size_t i = 0; i < s->ncalls; i++) {
		s->calls[i] = (struct shape_call){ .id = f->calls[i].id,
			.name = f->calls[i].name,
			.arguments = f->calls[i].arguments,
			.members = f->calls[i].members };
		if (s->calls[i].id.p == NULL)
			s->calls[i].id =
			    arena_printf(a, RULES_CALL_ID "%lld_%zu",
				(long long)sim->responses, i);
		if (s->calls[i].arguments.p == NULL)
			s->calls[i].arguments = STR("{}");
	}
}

/* ---- bytes ---- */

static void
job_put_head(struct job *j, const struct shape *s)
{
	j->status = 200;
	j->chunked = shape_is_stream(s);
	j->persistent = !j->truncate;
	buf_printf(&j->head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n",
	    j->chunked ? "text/event-stream" : "application/json");
	if (j->chunked)
		buf_puts(&j->head, "Transfer-Encoding: chunked\r\n");
	else
		buf_printf(&j->head, "Content-Length: %zu\r\n", j->out.b.n);
	buf_puts(&j->head, "\r\n");
}

static void
job_put_response(struct job *j, const struct shape *s)
{
	if (j->anthropic)
		shape_anthropic(s, &j->out);
	else
		shape_openai(s, &j->out);
	j->bytewise = SHAPE_HAS(s, BYTEWISE);
	job_put_head(j, s);
	if (j->truncate) {
		j->out.n = (j->out.n + 1) / 2;
		if (!j->chunked)
			j->out.ends[0] = j->out.b.n / 2;
	}
}

/* In the format of the provider. */
static void
job_put_error(struct job *j, int status, const char *type, const char *text)
{
	struct wire_out o = { .b = &j->out.b };

	j->status = status;
	wire_out_object(&o);
	if (j->anthropic)
		shape_text(&o, "type", STR("error"));
	wire_out_key(&o, STR("error"));
	wire_out_object(&o);
	shape_text(&o, "message", str_of(text));
	shape_text(&o, "type", str_of(type));
	if (!j->anthropic)
		shape_text(&o, "code", str_of(type));
	wire_out_object_end(&o);
	wire_out_object_end(&o);
	shape_end_chunk(&j->out);
}

static void
job_put_error_head(struct job *j, const char *more)
{
	buf_printf(&j->head,
	    "HTTP/1.1 %d Sim\r\n%sContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n",
	    j->status, more, j->out.b.n);
	j->persistent = true;
}

static void
job_put_status(struct job *j, const struct wire_llm_sim_script_faults *f)
{
	j->status = (int)f->status;
	j->persistent = true;
	buf_put_str(&j->out.b, f->body);
	shape_end_chunk(&j->out);
	buf_printf(&j->head, "HTTP/1.1 %d Sim\r\n", j->status);
	for (size_t i = 0; i < f->n_headers; i++)
		buf_printf(&j->head, "%.*s\r\n", STR_ARG(f->headers[i]));
	buf_printf(&j->head, "Content-Length: %zu\r\n\r\n", j->out.b.n);
}

/* False: the fault still has a regular response. */
static bool
job_put_failure(struct job *j, const struct wire_llm_sim_script_faults *f)
{
	char after[64] = "";

	switch (f->kind) {
	case KIND(RATE_LIMIT):
		snprintf(after, sizeof(after), "Retry-After: %lld\r\n",
		    (long long)f->retry_after_s);
		job_put_error(j, 429,
		    j->anthropic ? "rate_limit_error" : "rate_limit_exceeded",
		    "slow down");
		break;
	case KIND(QUOTA):
		job_put_error(j, j->anthropic ? 402 : 429,
		    j->anthropic ? "billing_error" : "insufficient_quota",
		    "the quota is spent");
		break;
	case KIND(ERROR):
		job_put_error(j, 500,
		    j->anthropic ? "api_error" : "server_error", "it broke");
		break;
	case KIND(STATUS):
		job_put_status(j, f);
		return true;
	case KIND(SILENCE):
		j->status = 200;
		return true;
	default:
		return false;
	}
	job_put_error_head(j, after);
	return true;
}

/* ---- sending ---- */

/* The result code for the metrics. */
static enum rc
job_rc(int status)
{
	if (status < 400)
		return RC_OK;
	if (status == 429)
		return RC_RETRY;
	return status >= 500 ? RC_DOWN : RC_INVALID;
}

static void
job_end(struct job *j, enum rc rc)
{
	struct svc_call *c = j->c;

	if (rc == RC_OK)
		rc = job_rc(j->status);
	loop_timer_cancel(svc_loop(j->sim->svc), &j->timer);
	buf_free(&j->head);
	shape_out_free(&j->out);
	free(j);
	svc_stream_end(c, rc);
}

static enum rc
job_send_bytes(struct job *j, struct str bytes)
{
	struct buf chunk = BUF_INIT(SHAPE_MAX + 64);
	enum rc rc;

	if (!j->chunked)
		return svc_raw_send(j->c, bytes);
	buf_printf(&chunk, "%zx\r\n", bytes.n);
	buf_put_str(&chunk, bytes);
	buf_puts(&chunk, "\r\n");
	rc = svc_raw_send(j->c, buf_str(&chunk));
	buf_free(&chunk);
	return rc;
}

static void
job_send_chunk(void *arg)
{
	struct job *j = arg;
	struct str next = { j->out.b.p + j->at, 0 };
	enum rc rc = RC_OK;

	if (j->chunk < j->out.n) {
		next.n = j->bytewise ? 1 : j->out.ends[j->chunk] - j->at;
		if (next.n > 0)
			rc = job_send_bytes(j, next);
		j->at += next.n;
		if (j->at == j->out.ends[j->chunk])
			j->chunk++;
		if (rc == RC_OK) {
			loop_timer_set(svc_loop(j->sim->svc), &j->timer,
			    mono_add_ms(clock_mono(), j->chunk_ms),
			    job_send_chunk, j);
			return;
		}
	} else if (j->chunked && !j->truncate) {
		rc = svc_raw_send(j->c, STR("0\r\n\r\n"));
	}
	job_end(j, rc);
}

static void
job_begin(void *arg)
{
	struct job *j = arg;

	if (svc_raw_start(j->c, j->status, j->persistent) != RC_OK ||
	    svc_raw_send(j->c, buf_str(&j->head)) != RC_OK)
		job_end(j, RC_DOWN);
	else if (j->head.n == 0)
		job_end(j, RC_OK);
	else
		job_send_chunk(j);
}

static struct job *
job_new(struct sim *sim, struct svc_call *c,
    const struct wire_llm_sim_script_faults *f)
{
	struct job *j = mem_zalloc(sizeof(*j));

	j->sim = sim;
	j->c = c;
	j->truncate = f->kind == KIND(CUT);
	j->chunk_ms = f->has_piece_ms ? f->piece_ms : sim->conf->token_ms;
	buf_init(&j->head, SHAPE_MAX);
	shape_out_init(&j->out);
	return j;
}

static struct str
sim_last_text(const struct wire_llm_chat_request *rq)
{
	return rq->n_messages > 0 ? rq->messages[rq->n_messages - 1].content
				  : STR("");
}

/* broken: what is wrong with the request, or NULL. */
static void
sim_respond(struct sim *sim, struct svc_call *c,
    const struct wire_llm_chat_request *rq, bool anthropic, const char *broken)
{
	struct wire_llm_sim_script_faults f =
	    script_next(&sim->script, sim_last_text(rq));
	struct job *j = job_new(sim, c, &f);
	struct arena *a = svc_call_arena(c);
	struct shape s = { .stream = rq->has_stream && rq->stream };
	struct rules_result result;
	enum rc rc = RC_OK;

	j->anthropic = anthropic;
	sim->responses++;
	s.id = arena_printf(a, "chatcmpl-sim-%lld", (long long)sim->responses);
	if (f.kind == KIND(ANSWER)) {
		sim_shape_of_script(sim, a, &f, &s);
	} else {
		rc = rules_apply(rq, a, &result);
		if (rc == RC_OK)
			sim_shape_of_rules(
			    sim, a, &result, f.kind == KIND(BAD_ARGUMENTS), &s);
	}
	if (broken != NULL || rc != RC_OK) {
		job_put_error(j, 400, "invalid_request_error",
		    broken != NULL ? broken : "the request is too large");
		job_put_error_head(j, "");
	} else if (!job_put_failure(j, &f)) {
		job_put_response(j, &s);
	}
	loop_timer_set(svc_loop(sim->svc), &j->timer,
	    mono_add_ms(clock_mono(), sim->conf->first_ms + f.delay_ms),
	    job_begin, j);
}

/* ---- routes ---- */

void
sim_chat(void *app, struct svc_call *c)
{
	sim_respond(app, c, svc_call_request(c), false, NULL);
}

void
sim_messages(void *app, struct svc_call *c)
{
	const struct wire_llm_messages_request *in = svc_call_request(c);
	struct wire_llm_chat_request rq;
	const char *why = NULL;
	enum rc rc = messages_read(in, svc_call_arena(c), &rq, &why);

	rq.has_stream = in->has_stream;
	rq.stream = in->stream;
	if (rc != RC_OK && why == NULL)
		why = "the request is too large";
	sim_respond(app, c, &rq, true, why);
}

void
sim_embeddings(void *app, struct svc_call *c)
{
	const struct wire_llm_embeddings_request *req = svc_call_request(c);
	struct arena *a = svc_call_arena(c);
	struct wire_llm_embeddings_response rep = { .object = STR("list"),
		.model = STR(SHAPE_MODEL) };
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
sim_script(void *app, struct svc_call *c)
{
	struct sim *sim = app;

	if (script_set(&sim->script, svc_call_request(c)) != RC_OK)
		svc_fail(c, RC_TOOBIG, "the script is too large");
	else
		svc_reply(c, &(struct wire_ok_response){ .ok = true });
}
