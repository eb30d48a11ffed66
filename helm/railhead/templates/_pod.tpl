{{/* A volume with a certificate, its key, and an authority; either may be missing. */}}
{{- define "railhead.tlsVolume" -}}
- name: {{ .name }}
  projected:
    defaultMode: 0440
    sources:
      {{- with .secret }}
      - secret:
          name: {{ . }}
          items:
            - key: tls.crt
              path: tls.crt
            - key: tls.key
              path: tls.key
      {{- end }}
      {{- with .ca }}
      - secret:
          name: {{ . }}
          items:
            - key: ca.crt
              path: {{ $.caFile }}
      {{- end }}
{{- end -}}

{{/* The end of a probe's mapping. */}}
{{- define "railhead.healthScheme" -}}
{{- if .Values.healthTls.existingSecret -}}, scheme: HTTPS{{- end -}}
{{- end -}}

{{/* The folders of the disk tier; none where it has raw devices. */}}
{{- define "railhead.diskMounts" -}}
{{- if and (include "railhead.hasDisk" .) (not (include "railhead.hasDevices" .)) -}}
{{- range $i := until (include "railhead.disks" . | int) }}
- name: disk{{ $i }}
  mountPath: /var/lib/railhead/disk{{ $i }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The pod, the same in a StatefulSet and in a DaemonSet. */}}
{{- define "railhead.pod" -}}
metadata:
  labels:
    {{- include "railhead.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ include "railhead.restartConfig" . | sha256sum }}
    {{- with .Values.network.multus }}
    k8s.v1.cni.cncf.io/networks: {{ . | quote }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "railhead.fullname" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add .Values.preStopSeconds (include "railhead.flushSeconds" . | int) .Values.drainSeconds .Values.drainSeconds 30 }}
  {{- if .Values.network.hostNetwork }}
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with include "railhead.nodeSelector" . }}
  nodeSelector:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "railhead.spread" . }}
  topologySpreadConstraints:
    {{- . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    {{- if include "railhead.hasDevices" . }}
    # Devices keep the owner and group that they have on the node.
    supplementalGroups: [{{ int .Values.disk.claims.deviceGroup }}]
    {{- end }}
    seccompProfile:
      type: RuntimeDefault
  {{- if eq .Values.kind "DaemonSet" }}
  initContainers:
    # The node makes the folders for root; the gateway is not root.
    - name: socket-folder
      image: {{ include "railhead.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [chown, "10001:10001", /run/railhead{{ if include "railhead.hasDisk" . }}{{ range $i := until (len .Values.disk.hostPaths) }}, /var/lib/railhead/disk{{ $i }}{{ end }}{{ end }}]
      securityContext:
        runAsNonRoot: false
        runAsUser: 0
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
          add: [CHOWN]
      resources:
        requests: {cpu: 10m, memory: 16Mi}
        limits: {memory: 16Mi}
      volumeMounts:
        - name: run
          mountPath: /run/railhead
        {{- with include "railhead.diskMounts" . }}
        {{- . | nindent 8 }}
        {{- end }}
  {{- end }}
  containers:
    - name: railhead
      image: {{ include "railhead.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve, --config, /etc/railhead/railhead.yaml]
      env:
        - name: RAILHEAD_JAVA_OPTIONS
          value: {{ include "railhead.javaOptions" . | quote }}
        {{- with include "railhead.env" . }}
        {{- . | nindent 8 }}
        {{- end }}
      ports:
        - name: s3
          containerPort: 9000
        - name: health
          containerPort: 9901
        {{- if .Values.cluster.enabled }}
        - name: cluster
          containerPort: 7800
        - name: fills
          containerPort: 7801
        {{- end }}
      startupProbe:
        httpGet: {path: /livez, port: health{{ include "railhead.healthScheme" . }}}
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /livez, port: health{{ include "railhead.healthScheme" . }}}
        periodSeconds: 10
        timeoutSeconds: 3
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: health{{ include "railhead.healthScheme" . }}}
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      lifecycle:
        preStop:
          exec:
            command: {{ include "railhead.preStop" . }}
      resources:
        requests:
          cpu: {{ .Values.cpu.request | quote }}
          memory: {{ include "railhead.memory" . }}
          {{- with include "railhead.hugePages" . }}
          {{ . }}
          {{- end }}
          {{- include "railhead.rdmaResource" . | nindent 10 }}
        limits:
          {{- with .Values.cpu.limit }}
          cpu: {{ . | quote }}
          {{- end }}
          memory: {{ include "railhead.memory" . }}
          {{- with include "railhead.hugePages" . }}
          {{ . }}
          {{- end }}
          {{- include "railhead.rdmaResource" . | nindent 10 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
          {{- if include "railhead.pins" . }}
          add: [IPC_LOCK]
          {{- end }}
      volumeMounts:
        - name: config
          mountPath: /etc/railhead
          readOnly: true
        {{- if include "railhead.tlsSecret" . }}
        - name: tls
          mountPath: /etc/railhead-tls
          readOnly: true
        {{- end }}
        {{- if .Values.cluster.enabled }}
        - name: members-tls
          mountPath: /etc/railhead-members-tls
          readOnly: true
        {{- end }}
        {{- if include "railhead.asksCluster" . }}
        - name: cluster
          mountPath: /etc/railhead-cluster
          readOnly: true
        {{- end }}
        {{- if .Values.dc.existingSecret }}
        - name: dc
          mountPath: /etc/railhead-dc
          readOnly: true
        {{- end }}
        {{- if .Values.healthTls.existingSecret }}
        - name: health-tls
          mountPath: /etc/railhead-health-tls
          readOnly: true
        {{- end }}
        {{- if .Values.adminTls.existingSecret }}
        - name: admin-tls
          mountPath: /etc/railhead-admin-tls
          readOnly: true
        {{- end }}
        {{- if or .Values.auditSyslog.caSecret .Values.auditSyslog.clientSecret }}
        - name: audit-tls
          mountPath: /etc/railhead-audit-tls
          readOnly: true
        {{- end }}
        - name: run
          mountPath: /run/railhead
        - name: tmp
          mountPath: /tmp
        {{- with include "railhead.diskMounts" . }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- if include "railhead.hasWriteBack" . }}
        - name: write-back
          mountPath: /var/lib/railhead/write-back
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if include "railhead.hasDevices" . }}
      volumeDevices:
        {{- range $i := until (int .Values.disk.claims.count) }}
        - name: disk{{ $i }}
          devicePath: /dev/railhead{{ $i }}
        {{- end }}
      {{- end }}
  volumes:
    - name: config
      projected:
        defaultMode: 0440
        sources:
          - configMap:
              name: {{ include "railhead.fullname" . }}
          {{- if ne (include "railhead.authentication" .) "pass_through" }}
          - secret:
              name: {{ include "railhead.secret" . }}
              items:
                - key: credentials.yaml
                  path: credentials.yaml
          {{- end }}
          {{- if .Values.webIdentity.enabled }}
          - secret:
              name: {{ include "railhead.sessionKeysSecret" . }}
              items:
                - key: session.keys
                  path: session.keys
          {{- end }}
    {{- with include "railhead.tlsSecret" . }}
    {{- include "railhead.tlsVolume" (dict "name" "tls" "secret" . "ca" $.Values.tls.clientCaSecret "caFile" "client-ca.crt") | nindent 4 }}
    {{- end }}
    {{- if .Values.cluster.enabled }}
    {{- $secret := include "railhead.membersSecret" . }}
    {{- include "railhead.tlsVolume" (dict "name" "members-tls" "secret" $secret "ca" $secret "caFile" "ca.crt") | nindent 4 }}
    {{- end }}
    {{- with .Values.healthTls }}
    {{- if .existingSecret }}
    {{- include "railhead.tlsVolume" (dict "name" "health-tls" "secret" .existingSecret "ca" .clientCaSecret "caFile" "client-ca.crt") | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- with .Values.adminTls }}
    {{- if .existingSecret }}
    {{- include "railhead.tlsVolume" (dict "name" "admin-tls" "secret" .existingSecret "ca" .clientCaSecret "caFile" "client-ca.crt") | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- with .Values.auditSyslog }}
    {{- if or .caSecret .clientSecret }}
    {{- include "railhead.tlsVolume" (dict "name" "audit-tls" "secret" .clientSecret "ca" .caSecret "caFile" "ca.crt") | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- if include "railhead.asksCluster" . }}
    # The API server shows its keys to every service account, by the ClusterRole system:service-account-issuer-discovery.
    - name: cluster
      projected:
        defaultMode: 0440
        sources:
          - serviceAccountToken:
              path: token
              expirationSeconds: 3600
          - configMap:
              name: kube-root-ca.crt
              items:
                - key: ca.crt
                  path: ca.crt
    {{- end }}
    {{- with .Values.dc.existingSecret }}
    - name: dc
      secret:
        secretName: {{ . }}
        defaultMode: 0440
        items:
          - key: dc.key
            path: dc.key
    {{- end }}
    - name: run
      {{- if eq .Values.kind "DaemonSet" }}
      hostPath:
        path: /run/railhead
        type: DirectoryOrCreate
      {{- else }}
      emptyDir:
        sizeLimit: 16Mi
      {{- end }}
    - name: tmp
      emptyDir:
        sizeLimit: 256Mi
    {{- if and (include "railhead.hasDisk" .) (eq .Values.kind "DaemonSet") }}
    {{- range $i, $path := .Values.disk.hostPaths }}
    - name: disk{{ $i }}
      hostPath:
        path: {{ $path | quote }}
        type: DirectoryOrCreate
    {{- end }}
    {{- end }}
    {{- if include "railhead.hasWriteBack" . }}
    - name: write-back
      persistentVolumeClaim:
        claimName: {{ include "railhead.writeBackClaim" . }}
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
