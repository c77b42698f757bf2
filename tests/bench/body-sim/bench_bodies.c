/*
 * The cost of simulated devices: time until all have announced themselves,
 * memory, processor time; compared with the same number of bare libmosquitto
 * clients that publish as much.
 */
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/clock.h"
#include "testkit/figures.h"
#include "testkit/sim_fixture.h"

#define BARE 1000

/* Sizes of the reports of body-sim. */
#define SKILLS_BYTES  1100
#define CATALOG_BYTES 1500

/* ---- bare clients ---- */

struct bare {
	struct mosquitto *mosq[BARE];
	int epfd, published;
};

static void
bare_connected(struct mosquitto *mosq, void *arg, int rc)
{
	static char skills[SKILLS_BYTES], catalog[CATALOG_BYTES];

	(void)arg;
	ck_assert_int_eq(rc, 0);
	for (int i = 0; i < 4; i++)
		mosquitto_subscribe(mosq, NULL, "bare/command", 1);
	mosquitto_publish(mosq, NULL, "bare/online", 6, "online", 1, false);
	mosquitto_publish(
	    mosq, NULL, "bare/skills", sizeof(skills), skills, 1, false);
	mosquitto_publish(mosq, NULL, "bare/intent_catalog", sizeof(catalog),
	    catalog, 1, false);
}

static void
bare_published(struct mosquitto *mosq, void *arg, int mid)
{
	(void)mosq;
	(void)mid;
	((struct bare *)arg)->published++;
}

static void
bare_watch(struct bare *b, int i, int op)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = (uint32_t)i };

	if (op == EPOLL_CTL_ADD || mosquitto_want_write(b->mosq[i]))
		e.events |= EPOLLOUT;
	ck_assert_int_eq(
	    epoll_ctl(b->epfd, op, mosquitto_socket(b->mosq[i]), &e), 0);
}

static void
bare_run(struct bare *b)
{
	struct epoll_event e[64];
	int n = epoll_wait(b->epfd, e, 64, 1000);

	for (int k = 0; k < n; k++) {
		int i = (int)e[k].data.u32;

		if ((e[k].events & EPOLLIN) != 0)
			mosquitto_loop_read(b->mosq[i], 1);
		if ((e[k].events & EPOLLOUT) != 0)
			mosquitto_loop_write(b->mosq[i], 1);
		bare_watch(b, i, EPOLL_CTL_MOD);
	}
}

static void
bench_show(const char *name, int n, int64_t ms, pid_t pid)
{
	long kib = tk_proc_status(pid, "VmRSS");

	printf("%-10s %6d %9lld %9.1f %9ld %9.2f\n", name, n, (long long)ms,
	    tk_cpu_us(pid) / 1e3, kib, (double)kib / n);
	(void)fflush(stdout);
}

/* Each test is a process, so its memory is its own. */
TEST_T(bare_clients, 120)
{
	static struct bare b;
	struct tk_server broker;
	struct mono start;

	ck_assert(sim_fleet_raise_limit(3 * BARE));
	tk_server_start(&broker, TK_MOSQUITTO);
	mosquitto_lib_init();
	b.epfd = epoll_create1(0);
	printf("%-10s %6s %9s %9s %9s %9s\n", "", "bodies", "ready ms",
	    "cpu ms", "RSS KiB", "KiB each");
	start = clock_mono();
	for (int i = 0; i < BARE; i++) {
		b.mosq[i] = mosquitto_new(NULL, true, &b);
		mosquitto_connect_callback_set(b.mosq[i], bare_connected);
		mosquitto_publish_callback_set(b.mosq[i], bare_published);
		mosquitto_int_option(b.mosq[i], MOSQ_OPT_TCP_NODELAY, 1);
		ck_assert_int_eq(mosquitto_connect_async(
				     b.mosq[i], "127.0.0.1", broker.port, 60),
		    MOSQ_ERR_SUCCESS);
		bare_watch(&b, i, EPOLL_CTL_ADD);
		/* As many at one time as body-sim connects. */
		while (b.published < 3 * (i - 64))
			bare_run(&b);
	}
	while (b.published < 3 * BARE)
		bare_run(&b);
	bench_show("bare", BARE, mono_diff_ms(clock_mono(), start), getpid());
	for (int i = 0; i < BARE; i++)
		mosquitto_destroy(b.mosq[i]);
	close(b.epfd);
}

/* ---- body-sim ---- */

static void
bench_measure(int n)
{
	static struct sim_fleet c;
	struct mono start;

	if (!sim_fleet_raise_limit(n)) {
		printf("body-sim   %6d needs more open files\n", n);
		return;
	}
	c.bodies = n;
	tk_server_start(&c.b.broker, TK_MOSQUITTO);
	start = clock_mono();
	sim_fixture_spawn(&c.b,
	    (const char *const[]){ n == 10000 ? "BODY_COUNT=10000"
		    : n == 1000               ? "BODY_COUNT=1000"
					      : "BODY_COUNT=1",
		"LOG_LEVEL=warn", NULL });
	tk_service_wait(&c.b.sim);
	bench_show(
	    "body-sim", n, mono_diff_ms(clock_mono(), start), c.b.sim.proc.pid);
	sim_fleet_listen(&c);
	sim_fleet_stop(&c);
}

TEST_T(one_body, 60)
{
	bench_measure(1);
}

TEST_T(a_thousand_bodies, 120)
{
	bench_measure(1000);
}

TEST_T(ten_thousand_bodies, 300)
{
	bench_measure(10000);
}
