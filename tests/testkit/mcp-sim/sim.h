/*
 * sim: an MCP server with faults on demand, whatever its transport.
 */
#ifndef MCP_SIM_SIM_H
#define MCP_SIM_SIM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PENDING_MAX 64

/* A call that is answered later. */
struct sim_pending {
	json_t *id, *token; /* NULL: it is free; without progress */
	int64_t end_ms, step_ms;
	long done;
};

struct sim {
	/* Where messages go; takes no reference. */
	void (*send)(void *arg, json_t *message);
	void *arg;
	/* ---- switches ---- */
	bool legacy, modern; /* eras */
	const char *version; /* that initialize replies; NULL: the client's */
	const char *mute;    /* a method without a response */
	bool noise;          /* lines that are no JSON */
	long huge;           /* bytes of a line before each response */
	bool twice, wrong_id, batch;
	long change;      /* times that the list changes */
	long pages, more; /* tools of a page; more tools */
	bool cursor_loop;
	long die_at; /* the call at which it exits; 0: none */
	bool die_on_discover;
	const char *demand;   /* a request to the client before each result */
	bool attempts;        /* a tool that tries what a sandbox forbids */
	const char *log;      /* a file: a line for each executed call */
	const char *describe; /* a file: the description of the tool echo, or
			       * of write_file */
	const char *files;    /* a folder: tools for its files, and no others */
	/* ---- state ---- */
	long calls, lists, demands;
	struct sim_pending pending[SIM_PENDING_MAX];
	json_t *held; /* a result that waits for the client's response */
};

/* sim_option(s, text): A switch, "name" or "name=value"; false: unknown. */
bool sim_option(struct sim *s, const char *text);

/* sim_on_message(s, m): A message of the client. */
void sim_on_message(struct sim *s, json_t *m);

/*
 * sim_next_ms(s): Until sim_on_time(), in ms; -1: nothing is pending.
 * sim_on_time(s): Do what is due.
 */
int sim_next_ms(const struct sim *s);
void sim_on_time(struct sim *s);

/* sim_stdio_run(argc, argv): Serve stdin and stdout; the exit code. */
int sim_stdio_run(int argc, char *argv[]);

#endif /* !MCP_SIM_SIM_H */
