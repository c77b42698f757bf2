/*
 * Durable consumers: deliveries from a stream, and what is said back.
 *
 * The server pushes to one subject per consumer, on which its members form a
 * queue group; so a member is a plain subscription, and max_in_flight on the
 * server is all the flow control there is.
 */
#include <stdio.h>

#include "bus/ack.h"
#include "bus/internal.h"
#include "bus/json.h"
#include "core/buf.h"
#include "core/log.h"
#include "wire/out.h"

#define CONFIG_MAX 4096
#define NS_PER_MS  INT64_C(1000000)
#define MS_MAX     (INT64_MAX / NS_PER_MS)

static void
config_write(const struct bus_consumer *c, const char *deliver, struct buf *b)
{
	struct wire_out o = { .b = b };

	wire_out_object(&o);
	json_str(&o, "stream_name", c->stream);
	wire_out_key(&o, STR("config"));
	wire_out_object(&o);
	json_str(&o, "durable_name", c->name);
	json_str(&o, "deliver_subject", deliver);
	json_str(&o, "deliver_group", c->name);
	json_str(&o, "deliver_policy", "all");
	json_str(&o, "ack_policy", "explicit");
	json_str(&o, "replay_policy", "instant");
	if (c->filter != NULL)
		json_str(&o, "filter_subject", c->filter);
	json_i64(&o, "ack_wait", c->ack_wait_ms * NS_PER_MS);
	json_i64(&o, "max_deliver", -1);
	json_i64(&o, "max_ack_pending", c->max_in_flight);
	wire_out_object_end(&o);
	wire_out_object_end(&o);
}

static bool
consumer_ok(const struct bus_consumer *c)
{
	return names_token_ok(c->stream) && names_token_ok(c->name) &&
	    (c->filter == NULL || names_subject_ok(c->filter, true)) &&
	    c->ack_wait_ms > 0 && c->ack_wait_ms <= MS_MAX &&
	    c->max_in_flight > 0 && c->fn != NULL;
}

enum rc
bus_consume(struct bus *b, const struct bus_consumer *c)
{
	struct buf config = BUF_INIT(CONFIG_MAX);
	char create[256], deliver[256];
	struct bus_sub *s;
	enum rc rc;

	if (!consumer_ok(c))
		return RC_INVALID;
	if (b->draining)
		return RC_DOWN;
	(void)snprintf(create, sizeof(create),
	    "$JS.API.CONSUMER.DURABLE.CREATE.%s.%s", c->stream, c->name);
	(void)snprintf(
	    deliver, sizeof(deliver), "soul.deliver.%s.%s", c->stream, c->name);
	config_write(c, deliver, &config);
	rc = buf_rc(&config);
	if (rc == RC_OK) {
		s = bus_sub_make(b, SUB_STREAM, deliver, c->name);
		s->fn = c->fn;
		s->arg = c->arg;
		if (b->conn != NULL && bus_sub_put(s) != RC_OK)
			conn_break(b->conn);
		bus_wish_keep(b,
		    &(struct bus_wish){ create, NULL, NULL, buf_str(&config),
			c->ready, c->arg });
	}
	buf_free(&config);
	return rc;
}

/* ---- messages ----------------------------------------------------------- */

bool
bus_msg_delivery(const struct bus_msg *m, struct bus_delivery *j)
{
	return m->stored && ack_subject_read(conn_msg_reply(m), j) == RC_OK;
}

struct str
bus_msg_id(const struct bus_msg *m)
{
	return conn_msg_header(m, HEADER_MSG_ID);
}

static enum rc
say(const struct bus_msg *m, struct str what)
{
	struct str to = conn_msg_reply(m);
	struct bus_delivery j;

	if (!bus_msg_delivery(m, &j))
		return RC_INVALID;
	return bus_send(
	    m->bus, &(struct conn_out){ .subject = to.p, .data = what });
}

enum rc
bus_ack(struct bus_msg *m)
{
	enum rc rc = say(m, STR("+ACK"));

	bus_msg_free(m);
	return rc;
}

enum rc
bus_nak(struct bus_msg *m, int64_t delay_ms)
{
	char text[64] = "-NAK";
	enum rc rc;

	if (delay_ms > MS_MAX)
		delay_ms = MS_MAX;
	if (delay_ms > 0)
		(void)snprintf(text, sizeof(text), "-NAK {\"delay\":%lld}",
		    (long long)(delay_ms * NS_PER_MS));
	rc = say(m, str_of(text));
	bus_msg_free(m);
	return rc;
}

enum rc
bus_ack_progress(struct bus_msg *m)
{
	return say(m, STR("+WPI"));
}
