FROM eclipse-temurin:25-jdk AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends maven \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/root/.m2 mvn -B -q -DskipTests -pl cli -am package \
    && mkdir -p /opt/railhead/cli/target/lib \
    && cp railhead LICENSE /opt/railhead/ \
    && cp cli/target/cli-*.jar /opt/railhead/cli/target/ \
    && cp cli/target/lib/*.jar /opt/railhead/cli/target/lib/
RUN jlink --output /opt/java --strip-java-debug-attributes --no-header-files --no-man-pages \
    --add-modules java.se,jdk.crypto.cryptoki,jdk.management,jdk.naming.dns,jdk.unsupported,jdk.zipfs

FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 railhead \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin railhead \
    && install -d -o 10001 -g 10001 /run/railhead \
    && install -d /etc/railhead
COPY --from=build /opt/java /opt/java
COPY --from=build /opt/railhead /opt/railhead
ENV RAILHEAD_JAVA_HOME=/opt/java
USER 10001:10001
EXPOSE 9000 9901
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9901 && printf 'GET /livez HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && grep -q ' 200 ' <&3"]
ENTRYPOINT ["/opt/railhead/railhead"]
CMD ["serve", "--config", "/etc/railhead/railhead.yaml"]
