#include "testkit/mqtt_fixture.h"

void
mqtt_fixture_init(struct mqtt_fixture *r)
{
	*r = (struct mqtt_fixture){ 0 };
	r->loop = loop_new(64);
	r->workers = worker_new(r->loop, 1, 16);
	r->metrics = metric_set_new();
}

void
mqtt_fixture_start(struct mqtt_fixture *r)
{
	mqtt_fixture_init(r);
	tk_server_start(&r->broker, TK_MOSQUITTO);
}

void
mqtt_fixture_end(struct mqtt_fixture *r)
{
	worker_free(r->workers);
	loop_free(r->loop);
	metric_set_free(r->metrics);
}

static void
mqtt_client_on_state(void *arg, bool up)
{
	struct mqtt_fixture_client *c = arg;

	if (up)
		c->ups++;
	else
		c->downs++;
	ck_assert_int_eq(mqtt_up(c->m), up);
}

static void
mqtt_client_on_message(void *arg, const struct mqtt_msg *m)
{
	struct mqtt_fixture_client *c = arg;

	c->messages++;
	buf_put_str(&c->got, m->topic);
	buf_putc(&c->got, '=');
	buf_put_str(&c->got, m->payload.n < 100 ? m->payload : STR("big"));
	buf_printf(&c->got, " %d%s;", m->qos, m->retain ? "R" : "");
}

void
mqtt_client_on_done(void *arg, enum rc rc, unsigned reason)
{
	struct mqtt_fixture_client *c = arg;

	c->done++;
	c->dones[rc]++;
	c->reason = (int)reason;
}

void
mqtt_client_on_subscribed(void *arg, enum rc rc, unsigned reason)
{
	struct mqtt_fixture_client *c = arg;

	(void)reason;
	ck_assert_int_eq(rc, RC_OK);
	c->subscribed++;
}

void
mqtt_client_init(
    struct mqtt_fixture_client *c, struct mqtt_fixture *r, const char *id)
{
	*c = (struct mqtt_fixture_client){ .fixture = r };
	buf_init(&c->got, 4 * 1024 * 1024);
	c->o = (struct mqtt_opts){ .loop = r->loop,
		.workers = r->workers,
		.url = r->broker.url,
		.client_id = id,
		.retry_max_ms = 300,
		.metrics = r->metrics,
		.on_state = mqtt_client_on_state,
		.on_message = mqtt_client_on_message,
		.arg = c };
}

void
mqtt_client_start(struct mqtt_fixture_client *c)
{
	ck_assert_int_eq(mqtt_new(&c->o, &c->m), RC_OK);
}

void
mqtt_client_end(struct mqtt_fixture_client *c)
{
	mqtt_free(c->m);
	c->m = NULL;
	buf_free(&c->got);
}

static bool
mqtt_client_is_up(void *arg)
{
	return mqtt_up(((struct mqtt_fixture_client *)arg)->m);
}

static bool
mqtt_client_is_down(void *arg)
{
	return !mqtt_up(((struct mqtt_fixture_client *)arg)->m);
}

void
mqtt_client_wait_up(struct mqtt_fixture_client *c)
{
	ck_assert(tk_loop_until(
	    c->fixture->loop, mqtt_client_is_up, c, MQTT_FIXTURE_MS));
}

void
mqtt_client_wait_down(struct mqtt_fixture_client *c)
{
	ck_assert(tk_loop_until(
	    c->fixture->loop, mqtt_client_is_down, c, MQTT_FIXTURE_MS));
}

void
mqtt_client_open(
    struct mqtt_fixture_client *c, struct mqtt_fixture *r, const char *id)
{
	mqtt_client_init(c, r, id);
	mqtt_client_start(c);
	mqtt_client_wait_up(c);
}

struct mqtt_fixture_count {
	const int *n;
	int want;
};

static bool
mqtt_client_reached(void *arg)
{
	const struct mqtt_fixture_count *c = arg;

	return *c->n >= c->want;
}

void
mqtt_client_wait(struct mqtt_fixture_client *c, const int *n, int want)
{
	struct mqtt_fixture_count count = { n, want };

	ck_assert_msg(tk_loop_until(c->fixture->loop, mqtt_client_reached,
			  &count, MQTT_FIXTURE_MS),
	    "%d of %d", *n, want);
}

enum rc
mqtt_client_send(struct mqtt_fixture_client *c, const char *topic,
    const char *payload, int qos)
{
	struct mqtt_msg m = { str_of(topic), str_of(payload), qos, false };

	return mqtt_publish(c->m, &m, qos > 0 ? mqtt_client_on_done : NULL, c);
}

void
mqtt_client_subscribe(
    struct mqtt_fixture_client *c, const char *filter, int qos)
{
	int before = c->subscribed;

	ck_assert_int_eq(mqtt_subscribe(c->m, str_of(filter), qos,
			     mqtt_client_on_subscribed, c),
	    RC_OK);
	mqtt_client_wait(c, &c->subscribed, before + 1);
}

void
mqtt_client_expect(struct mqtt_fixture_client *c, const char *got)
{
	ck_assert_str_eq(c->got.n > 0 ? c->got.p : "", got);
	buf_reset(&c->got);
	c->messages = 0;
}
