package io.railhead.cli.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class PolicyTestCommandTest {
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Sid": "home", "Effect": "Allow", "Principal": "*", "Action": "s3:*",
               "Resource": "arn:aws:s3:::home/${principal}/*"},
              {"Sid": "team", "Effect": "Allow", "Principal": "*", "Action": "s3:GetObject",
               "Resource": "arn:aws:s3:::data/${tenant}/*"},
              {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "*",
               "Condition": {"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}]}
            """;

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Path policy;
    private Path config;

    @BeforeEach
    void write() throws IOException {
        policy = Files.writeString(folder.resolve("policy.json"), POLICY);
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - {name: alice, tenant: ml, keys: [{access_key: AK, secret_key: s}]}
                """);
        config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml, policy: policy.json}
                cache: {memory: 64MiB}
                backends: {store: {endpoints: ["http://127.0.0.1:1"], region: us-east-1}}
                rules: [{freshness: strong}]
                """);
    }

    private int run(String source, Path file, String... more) {
        List<String> line = new ArrayList<>(List.of("test", source, file.toString()));
        line.addAll(List.of(more));
        return new CommandLine(new PolicyCommand()).setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    command.getErr().println(failure.getMessage());
                    return 1;
                })
                .execute(line.toArray(String[]::new));
    }

    private void writeRoles(String more) throws IOException {
        Files.writeString(folder.resolve("keys.json"), "{\"keys\": []}");
        Files.writeString(folder.resolve("credentials.yaml"), """
                roles:
                  - name: pods
                    issuer: https://issuer.test
                    claims: {kubernetes.io/namespace: "ml-*"}
                    principal: "${kubernetes.io/namespace}"
                    tenant: "${kubernetes.io/namespace}"
                    backend_credential: {access_key: AK, secret_key: s}
                """ + more);
        Files.writeString(config, Files.readString(config)
                .replace("gateway: {", "gateway: {web_identity: {issuers: [{issuer:"
                        + " 'https://issuer.test', audiences: [railhead],"
                        + " jwks_file: keys.json}]}, "));
        Files.writeString(policy, """
                {"Version": "2012-10-17", "Statement": [
                  {"Sid": "pods", "Effect": "Allow", "Principal": "role/pods", "Action": "s3:*",
                   "Resource": ["arn:aws:s3:::${tenant}/*",
                       "arn:aws:s3:::shared/${claim:kubernetes.io/namespace}/*"]}]}
                """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "ml-a|s3://ml-a/x|0|pods/ml-a: GET s3://ml-a/x: allowed",
            "ml-a|s3://shared/ml-a/x|0|allowed by Statement[0] (pods)",
            "ml-a|s3://ml-b/x|3|denied, since no statement allows it",
            "web|s3://web/x|4|no session of role pods: the claim kubernetes.io/namespace is 'web', which is none of those that the role takes (ml-*)",
    })
    void aRolesSessionIsJudgedByItsClaims(String namespace, String uri, int status, String line)
            throws IOException {
        writeRoles("");
        assertThat(run("--config", config, "--role", "pods", "--claim",
                "kubernetes.io/namespace=" + namespace, "GET", uri))
                .isEqualTo(status);
        assertThat(out.toString() + err).contains(line);
    }

    @Test
    void aRolesSessionThatWouldNotBeIsNamed() throws IOException {
        writeRoles("revoked: [{principal: pods/ml-a}]\n");
        assertThat(run("--config", config, "--role", "pods", "--claim",
                "kubernetes.io/namespace=ml-a", "GET", "s3://ml-a/x")).isEqualTo(4);
        assertThat(run("--config", config, "--role", "pods", "GET", "s3://ml-a/x")).isEqualTo(4);
        assertThat(run("--config", config, "--role", "none", "GET", "s3://ml-a/x")).isEqualTo(1);
        assertThat(run("--config", config, "--role", "pods", "--as", "alice", "GET", "s3://a/x"))
                .isEqualTo(2);
        assertThat(run("--policy", policy, "--as", "alice", "--claim", "a=b", "GET", "s3://a/x"))
                .isEqualTo(2);
        assertThat(out.toString() + err).contains("sessions like this are revoked",
                "it needs the claim kubernetes.io/namespace (ml-*); give it by --claim",
                "'none' is no role of", "exclude each other", "--claim goes with --role");
    }

    @Test
    void aPolicyAloneIsToldTheClaims() throws IOException {
        writeRoles("");
        assertThat(run("--policy", policy, "--role", "pods", "--claim",
                "kubernetes.io/namespace=ml-a", "GET", "s3://shared/ml-a/x")).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "alice|10.1.2.3|GET|s3://home/alice/x|0|s3:GetObject on home/alice/x: allowed by Statement[0] (home)",
            "bob|10.1.2.3|GET|s3://home/alice/x|3|s3:GetObject on home/alice/x: denied, since no statement allows it",
            "alice|192.0.2.1|GET|s3://home/alice/x|3|s3:GetObject on home/alice/x: denied by Statement[2]",
            "alice|10.1.2.3|DELETE|s3://home/alice/a b%|0|s3:DeleteObject on home/alice/a b%: allowed by",
            "alice|10.1.2.3|GET|s3://home/alice/x?acl|0|s3:GetObjectAcl on home/alice/x: allowed by",
            "alice|10.1.2.3|GET|s3://home?prefix=alice/|3|s3:ListBucket on home: denied",
            "alice|10.1.2.3|GET|s3://|3|s3:ListAllMyBuckets on the service: denied",
            "alice|10.1.2.3|GET|s3://home/alice/../x|3|this request is none that a policy can judge",
            "alice|10.1.2.3|POST|s3://home?delete|0|its body names the objects",
            "alice|10.1.2.3|GET|s3://home/alice/x?nosuch=1|3|this request is none that a policy can judge",
    })
    void theDecidingStatementIsNamed(String principal, String address, String method, String uri,
            int status, String line) {
        assertThat(run("--policy", policy, "--as", principal, "--from", address, method, uri))
                .isEqualTo(status);
        assertThat(out.toString()).startsWith(principal + ": " + method + " " + uri + ": "
                + (status == 0 ? "allowed" : "denied")).contains(line);
    }

    @Test
    void aCopyAsksForItsSourceToo() {
        assertThat(run("--policy", policy, "--as", "alice", "--from", "10.1.2.3", "--header",
                "x-amz-copy-source=/home/bob/x", "PUT", "s3://home/alice/x")).isEqualTo(3);
        assertThat(out.toString()).contains("s3:PutObject on home/alice/x: allowed by",
                "s3:GetObject on home/bob/x: denied");
    }

    @Test
    void withAConfigurationTheCredentialsSayTheTenant() {
        assertThat(run("--config", config, "--as", "alice", "--from", "10.1.2.3", "GET",
                "s3://data/ml/x")).isZero();
        assertThat(run("--config", config, "--as", "alice", "--from", "10.1.2.3", "GET",
                "s3://data/default/x")).isEqualTo(3);
        assertThat(run("--config", config, "--as", "carol", "GET", "s3://data/ml/x")).isEqualTo(1);
        assertThat(err.toString()).contains("'carol' is no principal");
    }

    @Test
    void nobodySignsWithoutAPrincipal() {
        assertThat(run("--policy", policy, "--from", "10.1.2.3", "GET", "s3://data/default/x"))
                .isEqualTo(3);
        assertThat(out.toString()).startsWith("nobody: GET");
    }

    @Test
    void whatCannotBeReadIsNoDecision() throws IOException {
        assertThat(run("--policy", policy, "--as", "alice", "GET", "home/alice")).isEqualTo(2);
        assertThat(run("--policy", policy, "--as", "alice", "get", "s3://b/k")).isEqualTo(2);
        assertThat(run("--policy", policy, "--from", "rack7", "GET", "s3://b/k")).isEqualTo(2);
        assertThat(err.toString()).contains("'get' must be GET, HEAD", "'rack7' is no address");
        Files.writeString(policy, "{}");
        assertThat(run("--policy", policy, "--as", "alice", "GET", "s3://b/k")).isEqualTo(1);
        assertThat(err.toString()).contains("Version: is missing");
        assertThat(run("--policy", folder.resolve("none"), "GET", "s3://b/k")).isEqualTo(1);
    }
}
