{{/* Checks across values, which values.schema.json cannot express. */}}
{{- define "soul.check" -}}
{{- $v := .Values -}}
{{- $asks := false -}}
{{- range include "soul.services" . | fromYaml }}{{ if has "llm" .needs }}{{ $asks = true }}{{ end }}{{ end -}}
{{- if and $asks (not (or $v.demo $v.llm.baseUrl $v.llm.providers (eq $v.llm.provider "claude"))) -}}
{{- fail "\nllm.baseUrl: no language model is configured.  Set llm.baseUrl (and llm.model, llm.existingSecret), llm.provider=claude or llm.providers; or demo=true for a simulated one." -}}
{{- end -}}
{{- range $name, $s := include "soul.services" . | fromYaml -}}
{{- if and $s.disk (not $s.engines) -}}
{{- fail (printf "\nservices.%s.engines: is empty; name at least one engine" $name) -}}
{{- end -}}
{{- range $s.engines -}}
{{- if and .key (not $s.keysSecret) -}}
{{- fail (printf "\nservices.%s.keysSecret: is empty, but the engine %s needs its key %s" $name .engine .key) -}}
{{- end -}}
{{- end -}}
{{- with $s.autoscaling -}}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) -}}
{{- fail (printf "\nservices.%s.autoscaling.minReplicas: is %d, more than maxReplicas, %d" $name (int .minReplicas) (int .maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- /* Before any object changes: services of 0.1 lose their permissions in Redis. */ -}}
{{- if not $v.migrate -}}
{{- $gateway := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-chat-gateway" (include "soul.fullname" .)) -}}
{{- $version := dig "metadata" "labels" "app.kubernetes.io/version" "" $gateway -}}
{{- if and $version (semverCompare "<0.2.0-0" $version) -}}
{{- fail (printf "\nmigrate: the installed release is %s, whose data must be migrated while no service runs; see Upgrade from 0.1 in docs/operations.md, and set migrate=to-2" $version) -}}
{{- end -}}
{{- end -}}
{{- if and $v.ingress.enabled (not (dig "chat-gateway" "http" false (include "soul.services" . | fromYaml))) -}}
{{- fail "\ningress.enabled: no backend; chat-gateway or its http is not enabled" -}}
{{- end -}}
{{- if and (include "soul.demo.identity" .) $v.auth.tokensSecret -}}
{{- fail "\nauth.tokensSecret: the demo needs the provisioner's token that the chart makes; set demo=false, or leave auth.tokensSecret empty" -}}
{{- end -}}
{{- if and $v.nats.bundled.enabled (gt (int $v.nats.replicas) 1) -}}
{{- fail (printf "\nnats.replicas: is %d, but the bundled NATS is a single server; set it to 1, or use your own cluster with nats.bundled.enabled=false and nats.external.url" (int $v.nats.replicas)) -}}
{{- end -}}
{{- with $v.nats.bundled -}}
{{- if and .enabled .storage.enabled (lt (include "soul.bytes" .storage.size | float64) 4294967296.0) -}}
{{- fail (printf "\nnats.bundled.storage.size: is %s, but the streams may take 3 GB, and a full volume stops NATS; set 4Gi or more" .storage.size) -}}
{{- end -}}
{{- end -}}
{{- $mqtt := $v.mqtt.bundled -}}
{{- if $mqtt.enabled -}}
{{- if and $mqtt.fleetSecret (not $mqtt.tlsSecret) -}}
{{- fail "\nmqtt.bundled.fleetSecret: certificates of bodies need one of the broker, too; set mqtt.bundled.tlsSecret" -}}
{{- end -}}
{{- if not (include "soul.mosquitto.ports" . | fromYaml).outside -}}
{{- fail "\nmqtt.bundled.service.type: would offer passwords unencrypted; set mqtt.bundled.tlsSecret, or mqtt.bundled.unencrypted=true if the network is trusted" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A quantity in bytes. */}}
{{- define "soul.bytes" -}}
{{- if or (not (kindIs "string" .)) (regexMatch "^[0-9.]+[eE][0-9]" (toString .)) }}{{ float64 . }}{{ else -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- $of := dict "" 1.0 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 -}}
{{- mulf (regexFind "^[0-9.]+" . | float64) (get $of $unit) -}}
{{- end -}}
{{- end -}}
