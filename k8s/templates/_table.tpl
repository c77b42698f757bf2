{{/*
Each service: its ports, its connections (which determine its configuration, its
secrets and its network policy), its maximum time to terminate (s), and how long
it keeps serving after the request to terminate, because a Service still sends it
requests (s).  User settings are in values.yaml.  One with a disk is a StatefulSet.

needs: nats, redis, mqtt; llm is a language model, outside are the endpoints
named by the variables in urls.  One that seals stores secrets of users, with
auth.secretsKeySecret, and then connects to their https servers.
*/}}
{{- define "soul.table" -}}
chat-gateway: {admin: 9110, http: 9010, needs: [nats, redis], seals: true, drain: 120, linger: 5}
intent-filter: {admin: 9113, http: 9013, needs: [nats, redis], drain: 10, linger: 5}
emotion-engine: {admin: 9112, http: 9012, needs: [nats, redis], drain: 10, linger: 5}
llm-orchestrator:
  admin: 9114
  needs: [nats, redis, llm]
  urls: [OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT]
  drain: 120
memory-worker:
  admin: 9115
  needs: [nats, redis, llm]
  urls: [EMBEDDINGS_BASE_URL, MEM0_BASE_URL, CHROMA_URL]
  drain: 10
mqtt-bridge: {admin: 9116, needs: [nats, redis, mqtt], drain: 10}
star-hub: {admin: 9122, http: 9014, needs: [nats, redis], drain: 20, linger: 5}
engine-runner: {admin: 9118, needs: [nats, redis], drain: 600, disk: true, image_name: engine-runner-engines}
mcp-host: {admin: 9119, needs: [nats, redis], seals: true, drain: 20}
alarm-clock: {admin: 9121, needs: [nats, redis], drain: 10}
navigator: {admin: 9120, needs: [nats, redis, llm], drain: 10}
llm-sim: {admin: 9117, http: 9080, needs: [nats], drain: 10, demo: true}
body-sim: {admin: 9111, http: 9011, needs: [mqtt], drain: 10, demo: true}
{{- end -}}

{{/*
The services of this release, as YAML: the table merged with defaults (values for
all services) and the service's own values, in ascending precedence.
*/}}
{{- define "soul.services" -}}
{{- $out := dict -}}
{{- range $name, $facts := include "soul.table" . | fromYaml -}}
{{- $own := index $.Values.services $name | default dict -}}
{{- $all := mergeOverwrite (deepCopy $.Values.defaults) $facts (deepCopy $own) -}}
{{- $wanted := $all.enabled -}}
{{- if $facts.demo }}{{ $wanted = $.Values.demo }}{{ end -}}
{{- if $wanted -}}
{{- if or $facts.demo (dig "http" "enabled" false $own) -}}
{{- $_ := set $all "http" (dict "port" $facts.http "from" (dig "http" "from" list $own) "service" (dig "http" "service" dict $own)) -}}
{{- else -}}
{{- $_ := unset $all "http" -}}
{{- $_ := unset $all "linger" -}}
{{- end -}}
{{- $_ := set $out $name $all -}}
{{- end -}}
{{- end -}}
{{- $out | toYaml -}}
{{- end -}}

{{/* The minimum number of replicas. */}}
{{- define "soul.replicas.min" -}}
{{- if dig "autoscaling" "enabled" false . -}}{{ .autoscaling.minReplicas }}{{- else -}}{{ .replicas }}{{- end -}}
{{- end -}}

{{/* A number as an integer if possible: Helm parses numbers as floating point. */}}
{{- define "soul.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* The port of a URL, by default that of its scheme. */}}
{{- define "soul.port" -}}
{{- $url := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $usual := dict "http" "80" "https" "443" "nats" "4222" "tls" "4222" "redis" "6379" "mqtt" "1883" "mqtts" "8883" "tcp" "1883" -}}
{{- $port | default (get $usual $url.scheme) -}}
{{- end -}}
