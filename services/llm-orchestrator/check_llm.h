/*
 * check_llm: "llm-orchestrator check-llm", which tries the language models that
 * the configuration names.
 */
#ifndef LLM_ORCHESTRATOR_CHECK_LLM_H
#define LLM_ORCHESTRATOR_CHECK_LLM_H

struct svc_command;

extern const struct svc_command check_llm_command;

#endif /* !LLM_ORCHESTRATOR_CHECK_LLM_H */
