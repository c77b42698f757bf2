{{/* Addresses of NATS, Redis, the MQTT broker and the language model. */}}

{{- define "soul.nats.url" -}}
{{- if .Values.nats.bundled.enabled -}}
{{ ternary "tls" "nats" (not (empty .Values.nats.bundled.tlsSecret)) }}://{{ include "soul.fullname" . }}-nats:4222
{{- else -}}
{{ .Values.nats.external.url }}
{{- end -}}
{{- end -}}

{{- define "soul.mqtt.url" -}}
{{- if .Values.mqtt.bundled.enabled -}}
mqtt://{{ include "soul.fullname" . }}-mosquitto-inside:1884
{{- else -}}
{{ .Values.mqtt.external.url }}
{{- end -}}
{{- end -}}

{{/*
Ports of the bundled broker, as YAML: those exposed to bodies, and those of
services and of bodies in this cluster, which no Service exposes.
*/}}
{{- define "soul.mosquitto.ports" -}}
{{- $at := .Values.mqtt.bundled -}}
{{- $out := dict -}}
{{- if or $at.unencrypted (eq (dig "type" "ClusterIP" $at.service) "ClusterIP") }}{{ $_ := set $out "mqtt" 1883 }}{{ end -}}
{{- if $at.tlsSecret }}{{ $_ := set $out "mqtts" 8883 }}{{ end -}}
{{- if $at.fleetSecret }}{{ $_ := set $out "mqtts-cert" 8884 }}{{ end -}}
{{- dict "outside" $out "inside" (dict "services" 1884 "mqtt" 1883) | toYaml -}}
{{- end -}}

{{/*
(dict "root" $ "service" …): TLS Secrets for connections to servers, as YAML: the
kind ("nats-ca", "nats-cert", …), the Secret, and the variables of its files.
*/}}
{{- define "soul.tls" -}}
{{- $out := list -}}
{{- range $need := list "nats" "mqtt" -}}
{{- if has $need $.service.needs -}}
{{- $at := index $.root.Values $need -}}
{{- $ca := ternary ($at.bundled.tlsSecret | default "") ($at.external.caSecret | default "") $at.bundled.enabled -}}
{{- $cert := ternary "" ($at.external.certSecret | default "") $at.bundled.enabled -}}
{{- $var := upper $need -}}
{{- if and $ca (or (eq $need "nats") (not $at.bundled.enabled)) -}}
{{- $out = append $out (dict "name" (printf "%s-ca" $need) "secret" $ca "vars" (dict (printf "%s_CA_FILE" $var) "ca.crt")) -}}
{{- end -}}
{{- if $cert -}}
{{- $out = append $out (dict "name" (printf "%s-cert" $need) "secret" $cert "vars" (dict (printf "%s_CERT_FILE" $var) "tls.crt" (printf "%s_KEY_FILE" $var) "tls.key")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "list" $out | toYaml -}}
{{- end -}}

{{- define "soul.llm.url" -}}
{{- if .Values.llm.baseUrl -}}
{{ .Values.llm.baseUrl }}
{{- else if .Values.demo -}}
http://{{ include "soul.fullname" . }}-llm-sim:9080/v1
{{- end -}}
{{- end -}}

{{/* Whether the simulated language model is used. */}}
{{- define "soul.llm.simulated" -}}
{{- if and .Values.demo (not .Values.llm.baseUrl) (not .Values.llm.providers) (eq .Values.llm.provider "openai") -}}yes{{- end -}}
{{- end -}}

{{/*
Users of the bundled servers, from the generated tables, as YAML.  The user admin
has all permissions, for administrators; its Redis password is redis-password.
*/}}
{{- define "soul.nats.users" -}}
{{- $users := list "admin" -}}
{{- range regexFindAll "(?m)^\\{ user: \"[^\"]+" (.Files.Get "files/nats-permissions.conf") -1 -}}
{{- $users = append $users (trimPrefix "{ user: \"" .) -}}
{{- end -}}
{{- $users | toYaml -}}
{{- end -}}

{{- define "soul.redis.users" -}}
{{- $users := list -}}
{{- range regexFindAll "(?m)^user \\S+ .* on " (.Files.Get "files/redis-users.acl") -1 -}}
{{- $users = append $users (index (splitList " " .) 1) -}}
{{- end -}}
{{- $users | toYaml -}}
{{- end -}}

{{/* Name of the Secret with what the bundled servers and their clients share. */}}
{{- define "soul.auth.name" -}}
{{- .Values.auth.existingSecret | default (printf "%s-auth" (include "soul.fullname" .)) -}}
{{- end -}}

{{/*
The keys of that Secret that this release uses, as YAML.  Existing values
are reused; new ones are generated once per rendering, so that all templates see
the same.  (Without a cluster, as with helm template, each rendering generates
new ones: name an existing Secret there.)
*/}}
{{- define "soul.auth" -}}
{{- if not (hasKey .Values "_auth") -}}
{{- $old := (lookup "v1" "Secret" .Release.Namespace (include "soul.auth.name" .)).data | default dict -}}
{{- $keys := list -}}
{{- $services := include "soul.services" . | fromYaml -}}
{{- $redis := list -}}
{{- if .Values.redis.bundled.enabled -}}
{{- $redis = include "soul.redis.users" . | fromYamlArray -}}
{{- $keys = append $keys "redis-password" -}}
{{- range $redis }}{{ $keys = append $keys (printf "redis-%s" .) }}{{ end -}}
{{- end -}}
{{- if .Values.nats.bundled.enabled -}}
{{- range include "soul.nats.users" . | fromYamlArray }}{{ $keys = append $keys (printf "nats-%s" .) }}{{ end -}}
{{- end -}}
{{- range $name, $s := $services -}}
{{- if and $.Values.mqtt.bundled.enabled (has "mqtt" $s.needs) -}}
{{- $keys = append $keys (printf "mqtt-%s" $name) -}}
{{- end -}}
{{- end -}}
{{- $data := dict -}}
{{- range concat $keys (include "soul.tokens.made" . | fromYamlArray) -}}
{{- $_ := set $data . (ternary "" (index $old . | default "" | b64dec | default (randAlphaNum 32)) (not (empty $.Values.auth.existingSecret))) -}}
{{- end -}}
{{- if has "token-operator" (keys $data) -}}
{{- $_ := set $data "tokens.json" (index $old "tokens.json" | default "" | b64dec | default (include "soul.tokens.file" $data)) -}}
{{- end -}}
{{- range $redis -}}
{{- $_ := set $data (printf "redis-url-%s" .) (printf "redis://%s:%s@%s-redis:6379" . (get $data (printf "redis-%s" .)) (include "soul.fullname" $)) -}}
{{- end -}}
{{- $_ := set .Values "_auth" $data -}}
{{- end -}}
{{- get .Values "_auth" | toYaml -}}
{{- end -}}

{{/*
(dict "root" $ "part" … "service" …): the secrets that a service reads, as YAML:
the file's name, the Secret's name and its key.
*/}}
{{- define "soul.secrets" -}}
{{- $v := .root.Values -}}
{{- $auth := include "soul.auth.name" .root -}}
{{- $out := list -}}
{{- if has "nats" .service.needs -}}
{{- if $v.nats.bundled.enabled -}}
{{- $out = append $out (dict "file" "nats-password" "secret" $auth "key" (printf "nats-%s" .part)) -}}
{{- else if $v.nats.external.existingSecret -}}
{{- $out = append $out (dict "file" "nats-password" "secret" $v.nats.external.existingSecret "key" $v.nats.external.passwordKey) -}}
{{- end -}}
{{- end -}}
{{- if has "redis" .service.needs -}}
{{- if $v.redis.bundled.enabled -}}
{{- $out = append $out (dict "file" "redis-url" "secret" $auth "key" (printf "redis-url-%s" .part)) -}}
{{- else if $v.redis.external.existingSecret -}}
{{- $out = append $out (dict "file" "redis-url" "secret" $v.redis.external.existingSecret "key" $v.redis.external.urlKey) -}}
{{- end -}}
{{- end -}}
{{- if has "mqtt" .service.needs -}}
{{- if $v.mqtt.bundled.enabled -}}
{{- $out = append $out (dict "file" "mqtt-password" "secret" $auth "key" (printf "mqtt-%s" .part)) -}}
{{- else if $v.mqtt.external.existingSecret -}}
{{- $out = append $out (dict "file" "mqtt-password" "secret" $v.mqtt.external.existingSecret "key" $v.mqtt.external.passwordKey) -}}
{{- end -}}
{{- end -}}
{{- if and $v.auth.enabled (include "soul.auth.checked" .service) -}}
{{- $out = append $out (dict "file" "tokens.json" "secret" ($v.auth.tokensSecret | default $auth) "key" "tokens.json") -}}
{{- end -}}
{{- if and .service.seals $v.auth.secretsKeySecret -}}
{{- $out = append $out (dict "file" "secrets-key" "secret" $v.auth.secretsKeySecret "key" "secrets-key") -}}
{{- end -}}
{{- dict "list" $out | toYaml -}}
{{- end -}}

{{/*
Tokens that the chart creates, as YAML: none if no service authenticates
callers.  In Secrets of 0.1 the provisioner's is named token-maker; it keeps that
name.
*/}}
{{- define "soul.tokens.made" -}}
{{- if and .Values.auth.enabled (not .Values.auth.tokensSecret) (include "soul.auth.required" .) -}}
{{- $old := (lookup "v1" "Secret" .Release.Namespace (include "soul.auth.name" .)).data | default dict -}}
[token-operator, {{ if hasKey $old "token-maker" }}token-maker{{ else }}token-provisioner{{ end }}]
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* The token file of services with an HTTP API, which has only hashes. */}}
{{- define "soul.tokens.file" -}}
{"tokens": [
  {"sha256": "{{ index . "token-operator" | sha256sum }}", "role": "operator", "name": "of the first install"},
  {"sha256": "{{ get . "token-provisioner" | default (get . "token-maker") | sha256sum }}", "role": "provisioner", "name": "of the first install"}
]}
{{- end -}}

{{/* Whether a service of this release authenticates HTTP callers. */}}
{{- define "soul.auth.required" -}}
{{- range $name, $s := include "soul.services" . | fromYaml -}}
{{- if include "soul.auth.checked" $s }}yes{{ end -}}
{{- end -}}
{{- end -}}

{{/* Whether this service authenticates HTTP callers. */}}
{{- define "soul.auth.checked" -}}
{{- if and .http (not .demo) }}yes{{ end -}}
{{- end -}}

{{/*
Checksum of what a service reads of that Secret: pods restart when it changes
(except for tokens, which are reloaded at run time).
*/}}
{{- define "soul.auth.sum" -}}
{{- $auth := include "soul.auth" .root | fromYaml -}}
{{- $seen := list -}}
{{- range (include "soul.secrets" . | fromYaml).list -}}
{{- if and (eq .secret (include "soul.auth.name" $.root)) (ne .file "tokens.json") }}{{ $seen = append $seen (get $auth .key) }}{{ end -}}
{{- end -}}
{{- $seen | join " " | sha256sum | trunc 16 -}}
{{- end -}}

{{/*
(dict "root" $ "part" "nats" "ports" … "at" values): the Service and
volume of a bundled server.  The Service has the part's name by default.
*/}}
{{- define "soul.server.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "soul.fullname" .root }}-{{ .name | default .part }}
  labels: {{- include "soul.labels" . | nindent 4 }}
  {{- with dig "service" "annotations" dict .at }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ dig "service" "type" "ClusterIP" .at }}
  selector: {{- include "soul.selector" . | nindent 4 }}
  ports:
    {{- range $name, $port := .ports }}
    - name: {{ $name }}
      port: {{ $port }}
      targetPort: {{ $name }}
      protocol: TCP
    {{- end }}
{{- end -}}

{{- define "soul.server.pod" -}}
serviceAccountName: {{ include "soul.fullname" .root }}
{{- include "soul.pullSecrets" .root }}
{{ include "soul.pod.security" .root }}
terminationGracePeriodSeconds: 30
{{- include "soul.pod.place" . }}
{{- end -}}

{{- define "soul.server.volume" -}}
{{- if .at.storage.enabled }}
volumeClaimTemplates:
  - metadata:
      name: data
      labels: {{- include "soul.selector" . | nindent 8 }}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .at.storage.className }}
      storageClassName: {{ . }}
      {{- end }}
      resources:
        requests:
          storage: {{ .at.storage.size }}
{{- end }}
{{- end -}}

{{/* Volumes without persistent storage. */}}
{{- define "soul.server.scratch" -}}
{{- if not .at.storage.enabled }}
- name: data
  emptyDir: {}
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 16Mi
{{- end -}}

{{/* (dict "root" $ "prefix" "nats-"): checksum of all passwords of a bundled server. */}}
{{- define "soul.server.sum" -}}
{{- $seen := list -}}
{{- $prefix := .prefix -}}
{{- range $key, $value := include "soul.auth" .root | fromYaml -}}
{{- if hasPrefix $prefix $key }}{{ $seen = append $seen $value }}{{ end -}}
{{- end -}}
{{- $seen | join " " | sha256sum | trunc 16 -}}
{{- end -}}
