/* Redis waits for its disk; a command waits for the writes before it. */
#include <stdio.h>

#include "testkit/bridge_fixture.h"
#include "testkit/redis_meter.h"

#define COMMANDS 4
/* One fsync, while the next call is sent: two are over half a second. */
#define FSYNC_US 300000

static void
slow_disk_invoke(struct bridge_fixture *b, int i)
{
	char body[128], reply[32];

	snprintf(body, sizeof(body),
	    "{\"request_id\":\"r%d\",\"skill\":\"nod\",\"arguments\":{}}", i);
	snprintf(reply, sizeof(reply), "replies.%d", i);
	ck_assert_int_eq(natsConnection_PublishRequestString(
			     b->nc, "soul.body.main.t1.invoke", reply, body),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
}

static bool
slow_disk_syncs(void *arg)
{
	struct tk_meter *meter = arg;

	return atomic_load(&meter->fsyncs) > 0;
}

TEST_T(commands_wait_for_a_slow_disk, 60)
{
	struct tk_meter *meter = tk_meter_begin();
	natsSubscription *replies;
	struct bridge_fixture b;
	struct mqtt_device d;
	json_t *reply;
	int i;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	replies = tk_nats_listen(b.nc, "replies.*");
	atomic_store(&meter->fsyncs, 0);
	atomic_store(&meter->fsync_us, FSYNC_US);
	slow_disk_invoke(&b, 0);
	ck_assert(tk_until(slow_disk_syncs, meter, BRIDGE_WAIT_MS));
	/* These wait for the fsync of the first, and for theirs. */
	for (i = 1; i < COMMANDS; i++)
		slow_disk_invoke(&b, i);
	for (i = 0; i < COMMANDS; i++) {
		reply = tk_nats_next(replies, BRIDGE_WAIT_MS, NULL);
		ck_assert_ptr_nonnull(reply);
		ck_assert_str_eq(tk_find_text(reply, "state"), "delivered");
		json_decref(reply);
	}
	ck_assert_uint_ge(atomic_load(&meter->fsyncs), 2);
	atomic_store(&meter->fsync_us, 0);
	natsSubscription_Destroy(replies);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}
