# What `mvn -Pimage` makes without an engine, made by one: the same packages, modules and folders. Nothing in it names an
# architecture; on arm64, or with --platform linux/arm64, it is an image for that.
FROM debian:trixie AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends maven openjdk-25-jdk-headless \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/root/.m2 mvn -B -q -DskipTests -pl cli -am package
RUN /usr/lib/jvm/java-25-openjdk-*/bin/jlink --output /image/opt/java \
    --add-modules "$(grep -v '^#' deploy/image/modules | paste -sd,)" \
    --compress=zip-0 --strip-java-debug-attributes --no-header-files --no-man-pages
# Netty's library lies where the JVM looks for it: Netty would unpack it into /tmp, where nothing can be run.
RUN mkdir -p /image/opt/railhead/classpath /image/opt/railhead/libs /image/usr/lib /image/etc/railhead /unpacked \
    && cp railhead LICENSE NOTICE /image/opt/railhead/ \
    && mkdir /cli && cp cli/target/cli-*.jar /cli \
    && /usr/lib/jvm/java-25-openjdk-*/bin/java deploy/image/StoreJars.java /cli /image/opt/railhead/classpath \
    && /usr/lib/jvm/java-25-openjdk-*/bin/java deploy/image/StoreJars.java cli/target/lib /image/opt/railhead/libs \
    && cd /unpacked \
    && /usr/lib/jvm/java-25-openjdk-*/bin/jar xf \
        /src/cli/target/lib/netty-transport-native-epoll-*-linux-"$(uname -m | sed s/aarch64/aarch_64/)".jar \
    && cp META-INF/native/*.so /image/usr/lib/
# By the JVM that will read it, and of jars that lie as they will: names, order, sizes and dates must be the same.
RUN JAVA_TOOL_OPTIONS=-XX:AOTCacheOutput=/image/opt/railhead/railhead.aot RAILHEAD_JAVA_HOME=/image/opt/java \
    /image/opt/railhead/railhead train

FROM debian:trixie-slim
RUN --mount=type=bind,from=build,source=/src/deploy/image/packages,target=/tmp/packages \
    apt-get update \
    && grep -v '^#' /tmp/packages | xargs apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 railhead \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin railhead \
    && install -d -o 10001 -g 10001 /run/railhead /var/lib/railhead
COPY --from=build /image/opt /opt
COPY --from=build /image/etc/railhead /etc/railhead
COPY --from=build /image/usr/lib/*.so /usr/lib/
LABEL org.opencontainers.image.title="Railhead" \
    org.opencontainers.image.description="A rack-local gateway: objects from unmodified HTTP S3 stores, cached in registered memory, delivered by RDMA." \
    org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/opt/railhead:/opt/java/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    RAILHEAD_JAVA_HOME=/opt/java
USER 10001:10001
EXPOSE 9000 9901
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["busybox", "wget", "-q", "-T", "3", "-O", "/dev/null", "http://127.0.0.1:9901/livez"]
ENTRYPOINT ["/opt/railhead/railhead"]
CMD ["serve", "--config", "/etc/railhead/railhead.yaml"]
