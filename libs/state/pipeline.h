/*
 * pipeline: the commands of a pipeline, and the attempts to execute them.
 */
#ifndef STATE_PIPELINE_H
#define STATE_PIPELINE_H

#include "state/cluster.h"
#include "state/state_internal.h"

struct pipe_group; /* commands that one server gets in an attempt */

struct pipe_entry {
	size_t start, end;                 /* its bytes in out */
	const struct state_script *script; /* NULL: a plain command */
	int slot; /* of its keys; SLOT_ANY outside of clusters */
	enum rc rc;
	struct state_reply *reply;

	/* Of a run: */
	bool pending;   /* it is to be sent, or to be retried */
	bool load;      /* it is sent with its script's text */
	bool loaded;    /* the text was sent */
	bool importing; /* it is sent to node, which imports its slot */
	bool unknown;   /* an attempt may have been executed */
	bool persists;  /* it is retried while its server is down */
	unsigned moves; /* redirections */
	struct state_node *node;
	size_t group, at; /* of an attempt: its group, and first reply there */
};

struct state_pipe {
	struct state *s;
	struct state_pipe *next; /* of the spare ones */
	struct buf out;
	struct pipe_entry *entries;
	struct state_reply **replies; /* scratch of a run: room for max */
	size_t n, max;
	bool ran; /* the next command empties it */
	struct arena *a;

	bool running;
	struct mono until;
	struct fiber *fiber; /* it waits; NULL: the caller blocks */
	struct pipe_group *groups;
	size_t n_groups, max_groups;
	size_t n_open; /* groups without their replies */
	struct loop_timer pause;
	struct state_pipe *paused_next, **paused_prev; /* NULL: not paused */
};

/*
 * pipe_attempts(p):
 * Execute all commands of p, repeating those that were certainly not executed
 * and those that may be executed twice, until its deadline: sets rc and reply
 * of each.
 */
void pipe_attempts(struct state_pipe *p);

/* pipe_attempts_free(p): Free what attempts have allocated. */
void pipe_attempts_free(struct state_pipe *p);

#endif /* !STATE_PIPELINE_H */
