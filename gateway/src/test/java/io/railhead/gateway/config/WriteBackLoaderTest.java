package io.railhead.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An acknowledgement at the gateway's disk has conditions, or the gateway does not start. */
class WriteBackLoaderTest {
    private static final String GATEWAY = "gateway: {credentials: c.yaml, sole: true, policy: p}";
    private static final String STORE = "backends: {store: {endpoints: ['http://s3']}}";
    private static final String RULE = "rules: [{bucket: b, acknowledge: disk, copies: 1}]";

    @TempDir
    private Path folder;

    @BeforeEach
    void write() throws Exception {
        Files.createFile(folder.resolve("c.yaml"));
        Files.createFile(folder.resolve("p"));
    }

    private String log() {
        return "write_back: {path: " + folder.resolve("log") + ", size: 1GiB}";
    }

    private GatewayConfig load(String... lines) throws Exception {
        return ConfigLoader.load(
                Files.writeString(folder.resolve("railhead.yaml"), String.join("\n", lines)));
    }

    @Test
    void allOfItTogetherIsARuleThatAcknowledgesAtDisk() throws Exception {
        GatewayConfig config = load(GATEWAY, STORE, log(), RULE);
        assertThat(config.writeBack()).isEqualTo(
                new GatewayConfig.WriteBack(folder.resolve("log").toString(),
                        ByteCount.parse("1GiB"), Duration.ofSeconds(30),
                        ByteCount.parse("0"), new Percent(100)));
        assertThat(config.rules().match("", "b", "k").acknowledgesAtDisk()).isTrue();
        assertThat(config.rules().match("", "b", "k").withoutCache().acknowledgesAtDisk())
                .isTrue();
        assertThat(config.rules().match("", "c", "k").acknowledgesAtDisk()).isFalse();
    }

    @Test
    void aBucketWhoseWritesMayBeAtDiskIsKnownByItsNameAlone() throws Exception {
        Rules rules = load(GATEWAY, STORE, log(),
                "rules: [{bucket: b, prefix: p/, acknowledge: disk, copies: 1}]").rules();
        assertThat(rules.mayBeAtDisk("b")).isTrue();
        assertThat(rules.mayBeAtDisk("c")).isFalse();
    }

    @Test
    void withoutItNothingOfItIsThere() throws Exception {
        GatewayConfig config = load(GATEWAY, STORE);
        assertThat(config.writeBack()).isNull();
        assertThat(config.rules().match("", "b", "k").acknowledgesAtDisk()).isFalse();
    }

    @Test
    void aLogWithoutARuleWritesOutWhatItHolds() throws Exception {
        assertThat(load(GATEWAY, STORE, log()).writeBack()).isNotNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "acknowledge: disk | rules[0].copies: is missing; acknowledge: disk needs copies: 1",
            "acknowledge: disk, copies: 2 | rules[0].copies: cannot be 2 yet",
            "acknowledge: disk, copies: 3 | rules[0].copies: must be 1 to 2: 3",
            "copies: 1 | rules[0].copies: has no meaning without acknowledge: disk",
            "acknowledge: memory | rules[0].acknowledge: 'memory' is not one of disk, store",
            "durability: none, acknowledge: disk | rules[0].acknowledge: has no meaning under"})
    void aRuleSaysAllOrNothing(String keys, String problem) {
        assertThatThrownBy(() -> load(GATEWAY, STORE, log(),
                "rules: [{bucket: b, " + keys + "}]"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(problem);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "gateway: {credentials: c.yaml, policy: p} | disk needs gateway.sole: true",
            "gateway: {credentials: c.yaml, sole: true} | disk needs gateway.policy",
            "gateway: {credentials: c.yaml, sole: true, policy: p, authentication: trusted_network,"
                    + " trusted_network: {principal: a}} | disk needs gateway.authentication: verify"})
    void aGatewayThatCannotKeepThePromiseDoesNotStart(String gateway, String problem) {
        assertThatThrownBy(() -> load(gateway, STORE, log(), RULE))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("rules[0].acknowledge: " + problem);
    }

    @Test
    void aRuleNeedsALog() {
        assertThatThrownBy(() -> load(GATEWAY, STORE, RULE))
                .hasMessageContaining("rules[0].acknowledge: disk needs write_back.path");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "{size: 1GiB} | write_back.path: is missing",
            "{tenant_quota: 5%} | write_back.path: is missing",
            "{path: /tmp/none-such, size: 1GiB, tenant_quota: 0%} | write_back.tenant_quota: must"
                    + " be at least 1% of a log",
            "{path: /tmp/none-such, size: 64MiB, tenant_quota: 1%} | write_back.tenant_quota: must"
                    + " be at least 2% of a log of this size, or it has no room for one upload",
            "{rate: 1GiB} | write_back.path: is missing",
            "{path: /tmp/none-such, size: 1GiB, rate: 1000} | write_back.rate: must be 0 for no"
                    + " limit, or at least 1MiB: 1000",
            "{path: log, size: 1GiB} | write_back.path: must be absolute: log",
            "{path: /no/log, size: 1GiB} | write_back.path: no such folder: /no",
            "{path: /usr, size: 1GiB} | write_back.path: is a folder",
            "{path: /tmp/none-such, size: 1MiB} | write_back.size: must be at least 64MiB",
            "{path: /tmp/none-such} | write_back.size: must be at least 64MiB",
            "{path: /tmp/none-such, size: 100000001} | write_back.size: must be at least 64MiB"})
    void aLogThatCannotBeIsRefused(String section, String problem) {
        assertThatThrownBy(() -> load(GATEWAY, STORE, "write_back: " + section))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void severalGatewaysAreRefused() {
        assertThatThrownBy(() -> load("gateway: {credentials: c.yaml}", STORE, log(),
                "cluster: {listen: '127.0.0.1:7800', members: ['127.0.0.1:7800']}"))
                .hasMessageContaining("write_back: cannot be used with cluster yet");
    }
}
