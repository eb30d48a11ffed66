package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.gateway.authorization.PolicyFile;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.DcConfig;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.frontdoor.CleartextPolicy;
import io.railhead.gateway.frontdoor.TlsOptions;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.rdma.session.DcKeyFile;
import io.railhead.rdma.dc.DcKey;
import io.vertx.core.Vertx;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks the files that a configuration names: whether they are usable, and which other users may
 * read them.
 */
final class GatewayFiles {
    private GatewayFiles() {}

    /**
     * Returns none if their file is unreadable, which is a finding, or if no secret is held.
     */
    static CredentialStore credentials(GatewayConfig.Gateway gateway, List<Finding> findings) {
        if (gateway.access().mode() == AuthMode.PASS_THROUGH) {
            return CredentialStore.none();
        }
        String why = "the gateway refuses clients that this file does not name";
        try (CredentialStore store = CredentialStore.open(gateway)) {
            findings.add(ok("credentials", gateway.credentials() + " names "
                    + store.principals().size() + " principal(s)"
                    + (store.roles().isEmpty() ? "" : ", " + store.roles().size() + " role(s)"),
                    why));
            findings.add(secret("credentials", gateway.credentials()));
            return store;
        } catch (ConfigException e) {
            findings.add(fail("credentials", String.valueOf(e.getMessage()), why,
                    "mend that line; railhead serve --check reads it again"));
            return CredentialStore.none();
        }
    }

    static List<ParallelCheck> parts(Site site) {
        return List.of(new ParallelCheck("files", () -> look(site)));
    }

    private static List<Finding> look(Site site) {
        List<Finding> findings = new ArrayList<>();
        GatewayConfig.Gateway gateway = site.config().gateway();
        Path policy = gateway.access().policy();
        if (policy != null) {
            findings.add(policy(policy, site.credentials()));
        }
        addCertificate(findings, "gateway.tls", gateway.tls());
        addCertificate(findings, "gateway.health_tls", gateway.healthTls());
        addCertificate(findings, "admin.tls", site.config().admin().tls());
        GatewayConfig.WebIdentity webIdentity = gateway.webIdentity();
        if (webIdentity != null && webIdentity.sessionKeys() != null) {
            findings.add(secret("gateway.web_identity.session_keys", webIdentity.sessionKeys()));
        }
        GatewayConfig.Events events = gateway.events();
        if (events != null) {
            findings.add(secret("gateway.events.token_file", events.tokenFile()));
        }
        findings.addAll(dcKey(site));
        String cleartext = CleartextPolicy.reasonAgainst(site.config(),
                site.credentials().areOfSeveralTenants());
        if (cleartext != null) {
            findings.add(fail("gateway.tls", cleartext, "an eavesdropper could name a"
                    + " tenant's memory", "set gateway.tls.certificate and gateway.tls.key"));
        }
        return findings;
    }

    private static List<Finding> dcKey(Site site) {
        DcConfig dc = site.config().rdma().dc();
        if (!dc.enabled()) {
            return List.of();
        }
        String why = "with it, a peer on the fabric needs only guesses to reach a client's memory";
        String mend = "write 16 random hex digits there, as openssl rand -hex 8 prints them, and"
                + " into each client's configuration";
        try {
            DcKey key = DcKeyFile.read(dc);
            String reason = DcKeyFile.reasonAgainst(dc, key,
                    site.credentials().areOfSeveralTenants());
            Path file = dc.keyFile();
            if (reason != null) {
                return List.of(fail("rdma.dc.key_file", reason, why, mend));
            }
            return List.of(file == null || key.isWellKnown()
                    ? warn("rdma.dc.key_file", "the well-known DC key is used", why, mend)
                    : secret("rdma.dc.key_file", file));
        } catch (IllegalArgumentException e) {
            return List.of(
                    fail("rdma.dc.key_file", String.valueOf(e.getMessage()), why, mend));
        }
    }

    private static Finding policy(Path path, CredentialStore credentials) {
        String why = "the gateway refuses requests that the policy does not allow";
        try (PolicyFile file = PolicyFile.load(path)) {
            List<String> warnings = file.warnings(credentials::isPrincipal,
                    credentials::isClaim);
            return warnings.isEmpty() || credentials.isEmpty()
                    ? ok("policy", path + " is good", why)
                    : warn("policy", String.join("; ", warnings), why,
                            "correct the name in " + path + ", or add it to the credentials file");
        } catch (ConfigException e) {
            return fail("policy", String.valueOf(e.getMessage()), why,
                    "mend that line; railhead serve --check reads it again");
        }
    }

    private static void addCertificate(List<Finding> findings, String key,
            GatewayConfig.@Nullable Tls tls) {
        if (tls != null) {
            findings.add(certificate(key, tls));
            findings.add(secret(key + ".key", tls.key()));
        }
    }

    private static Finding certificate(String key, GatewayConfig.Tls tls) {
        String why = "clients refuse a gateway whose certificate is not good";
        String mend = "write the certificate, its chain behind it, and its key anew; a running"
                + " gateway reads them again";
        try {
            List<byte[]> contents = new ArrayList<>();
            for (Path file : TlsOptions.of(tls)) {
                contents.add(Files.readAllBytes(file));
            }
            requireUsable(key, contents);
            X509Certificate own = (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(contents.getFirst()))
                    .iterator()
                    .next();
            String found = "certificate for " + Certificates.names(own) + ", "
                    + Certificates.end(own);
            if (Certificates.isExpired(own)) {
                return fail(key, found + ": expired", why, mend);
            }
            return Certificates.endsSoon(own)
                    ? warn(key, found, why, mend)
                    : ok(key, found, why);
        } catch (IOException | CertificateException | IllegalArgumentException e) {
            return fail(key, String.valueOf(e.getMessage()), why, mend);
        }
    }

    private static void requireUsable(String key, List<byte[]> contents) {
        Vertx vertx = Vertx.vertx();
        try {
            TlsOptions.options(vertx, key, contents);
        } finally {
            vertx.close().await();
        }
    }

    /** Checks a secret's permissions: any user who can read it can act as its principal. */
    private static Finding secret(String subject, Path file) {
        String why = "whoever reads its secrets can sign with them";
        try {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
            return permissions.contains(PosixFilePermission.OTHERS_READ)
                    || permissions.contains(PosixFilePermission.OTHERS_WRITE)
                            ? warn(subject, file + " may be read or written by every user", why,
                                    "chmod o= " + file
                                            + "; of a Kubernetes secret: defaultMode: 0440"
                                            + " and fsGroup")
                            : ok(subject, file + " is for its owner and group only", why);
        } catch (IOException | UnsupportedOperationException e) {
            return ok(subject, file + " does not tell who may read it", why);
        }
    }
}
