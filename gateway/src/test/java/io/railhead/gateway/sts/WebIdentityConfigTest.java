package io.railhead.gateway.sts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.Serve;
import io.railhead.gateway.authorization.PolicyFile;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults of roles and issuers stop the start with one line. */
class WebIdentityConfigTest {
    private static final String ISSUER = "{issuer: 'https://k8s', audiences: [railhead]}";
    private static final String ROLE = "{name: pods, issuer: 'https://k8s', claims: {sub: x},"
            + " backend_credential: {access_key: A, secret_key: S}}";

    @TempDir
    private Path folder;

    private CredentialStore open(String webIdentity, String credentials) throws Exception {
        Files.writeString(folder.resolve("short.keys"), "c2hvcnQ=\n");
        Files.writeString(folder.resolve("credentials.yaml"), credentials);
        Path file = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml, %s}
                backends: {a: {endpoints: ["http://s3"]}}
                """.formatted(webIdentity));
        GatewayConfig config = ConfigLoader.load(file);
        return CredentialStore.open(config.gateway());
    }

    private void refused(String webIdentity, String credentials, String message) {
        assertThatThrownBy(() -> open(webIdentity, credentials).close())
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(message);
    }

    /** The start goes on: sessions that were sealed before need no keys of the issuer. */
    @Test
    void aFileOfKeysThatVerifiesNothingIsWarnedOf() throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), "roles: [" + ROLE + "]");
        Path file = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  credentials: credentials.yaml
                  web_identity:
                    issuers: [{issuer: 'https://k8s', audiences: [a], jwks_file: keys.json}]
                cache: {memory: 64MiB}
                backends: {a: {endpoints: ["http://s3"]}}
                """);
        Map<String, String> faults = Map.of("no JSON", "no JWK set", "{\"keys\": []}",
                "has no public key",
                "{\"keys\": [{\"kty\": \"OKP\", \"crv\": \"a\\nb\", \"x\": \"AA\"}]}",
                "curve: a b");
        for (Map.Entry<String, String> fault : faults.entrySet()) {
            Files.writeString(folder.resolve("keys.json"), fault.getKey());
            assertThat(Serve.examine(file).warnings()).singleElement()
                    .asString()
                    .contains("jwks_file: " + folder.resolve("keys.json") + ": ",
                            fault.getValue())
                    .doesNotContain("\n");
        }
    }

    @Test
    void aFileOfRolesAloneIsEnough() throws Exception {
        try (CredentialStore store = open("web_identity: {issuers: [" + ISSUER + "]}",
                "roles: [" + ROLE + "]")) {
            assertThat(store.roles()).containsExactly("pods");
            assertThat(store.areOfSeveralTenants()).isFalse();
            assertThat(store.isPrincipal("pods")).isTrue();
            assertThat(store.isPrincipal("role/pods")).isTrue();
            assertThat(store.isPrincipal("pods/x")).isFalse();
        }
    }

    /** A policy's typo must not make a Deny silent, nor a revocation's typo nothing. */
    @Test
    void whatNamesNothingIsWarnedOf() throws Exception {
        Path policy = Files.writeString(folder.resolve("policy.json"), """
                {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "role/podz",
                 "Action": "s3:*", "Resource": "arn:aws:s3:::${claim:sup}/${claim:sub}"}]}""");
        try (CredentialStore store = open("web_identity: {issuers: [" + ISSUER + "]}",
                "roles: [" + ROLE + "]\nrevoked: [{role: podz}, {role: 'p*'}]");
                PolicyFile file = PolicyFile.load(policy)) {
            assertThat(store.idleRevocations()).containsExactly("revoked: no role is called podz");
            assertThat(file.warnings(store::isPrincipal, store::isClaim)).hasSize(2)
                    .anyMatch(line -> line.contains("role/podz"))
                    .anyMatch(line -> line.contains("claim sup, which no role names"));
        }
    }

    /** Roles by claims are of as many tenants as there are claims: what needs TLS then needs it. */
    @Test
    void aTenantByClaimsCountsAsSeveral() throws Exception {
        try (CredentialStore store = open("web_identity: {issuers: [" + ISSUER + "]}",
                "roles: [" + ROLE.replace("claims", "principal: '${ns}', tenant: '${ns}', claims")
                        + "]")) {
            assertThat(store.areOfSeveralTenants()).isTrue();
            assertThat(store.hasTenant("whatever")).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
            "issuers: [] | is missing; name at least one, or a role",
            "issuers: [{issuer: 'http://k8s', audiences: [a]}] | must be an https URL",
            "issuers: [{issuer: k8s, audiences: [a], jwks: 'http://evil/keys'}] | must be an https",
            "issuers: [{issuer: 'https://k8s'}] | audiences: is missing",
            "issuers: [{issuer: 'https://k8s', audiences: [a], algorithms: [HS256]}] | 'HS256'",
            "issuers: [{issuer: 'https://k8s', audiences: [a], algorithms: [none]}] | 'none'",
            "issuers: [{issuer: 'https://k8s', audiences: [a], clock_skew: 1h}] | at most 5m",
            "issuers: [{issuer: 'https://k8s', audiences: [a], token_hosts: [h]}] | token_hosts: stands beside token_file",
            "session_keys: short.keys | issuers: is missing",
            "issuers: [{issuer: 'https://k8s', audiences: [a], jwks_file: no.json}] | no.json"})
    void aWrongIssuerIsNamed(String webIdentity, String message) {
        refused("web_identity: {" + webIdentity + "}", "principals: []", message);
    }

    @Test
    void aKeyThatIsNoneIsNotRepeated() {
        assertThatThrownBy(() -> open("web_identity: {session_keys: short.keys, issuers: ["
                + ISSUER + "]}", "roles: [" + ROLE + "]"))
                .hasMessageContaining("32 bytes in base64")
                .hasMessageNotContaining("c2hvcnQ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
            "{name: pods, issuer: 'https://other', claims: {sub: x}} | is none of",
            "{name: pods, issuer: 'https://k8s'} | claims: is missing",
            "{name: pods, issuer: 'https://k8s', claims: {sub: x}} | backend_credential: is missing",
            "{name: a/b, issuer: 'https://k8s', claims: {sub: x}} | 'a/b' must be",
            "{name: role, issuer: 'https://k8s', claims: {sub: x}} | and not role",
            "{name: static, issuer: 'https://k8s', claims: {sub: x}} | is a principal's name",
            "{name: pods, issuer: 'https://k8s', claims: {sub: x}, tenant: '${ns'} | as ${CLAIM}",
            "{name: pods, issuer: 'https://k8s', claims: {sub: x}, principal: '${a}${b}'} | between",
            "{name: pods, issuer: 'https://k8s', clams: {sub: x}} | did you mean roles[0].claims",
            "{name: pods, issuer: 'https://k8s', claims: {sub: x}, tenant: '${claim:ns}'} | without claim:",
            "{name: p, issuer: 'https://k8s', claims: {sub: x}, tenant: '${ns}',"
                    + " backend_credential: {provider: default}} | each claim that tenant names",
            "{name: p, issuer: 'https://k8s', claims: {sub: x}, principal: '${sa}', tenant: '${ns}',"
                    + " backend_credential: {provider: default}} | each claim that tenant names"})
    void aWrongRoleIsNamed(String role, String message) {
        refused("web_identity: {issuers: [" + ISSUER + "]}", """
                principals: [{name: static/x, keys: [{access_key: A, secret_key: S}]}]
                roles: [%s]
                """.formatted(role), message);
    }

    @Test
    void rolesNeedIssuersAndPlainNamesAreKept() {
        refused("name: x", "roles: [" + ROLE + "]", "gateway.web_identity.issuers");
        refused("name: x", "principals: [{name: role/x, keys: [{access_key: A, secret_key: S}]}]",
                "must not begin with role/");
        refused("web_identity: {issuers: [" + ISSUER + "]}",
                "roles: [" + ROLE + "]\nrevoked: [{}]", "must name at least one of");
        refused("web_identity: {issuers: [" + ISSUER + "]}, authentication: pass_through",
                "roles: [" + ROLE + "]", "has no meaning without");
    }
}
