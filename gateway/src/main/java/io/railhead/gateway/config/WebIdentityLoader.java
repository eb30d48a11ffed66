package io.railhead.gateway.config;

import io.railhead.gateway.config.GatewayConfig.Issuer;
import io.railhead.gateway.config.GatewayConfig.WebIdentity;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code gateway.web_identity:}. */
final class WebIdentityLoader {
    /** Signatures with a key pair: a secret that issuer and gateway shared could forge tokens. */
    private static final Set<String> ALGORITHMS = Set.of("RS256", "RS384", "RS512", "PS256",
            "PS384", "PS512", "ES256", "ES384", "ES512");
    private static final Duration MAX_SKEW = Duration.ofMinutes(5);

    private final Path folder;

    WebIdentityLoader(Path folder) {
        this.folder = folder;
    }

    /** Returns null if no token is exchanged. */
    @Nullable
    WebIdentity load(Section gateway) throws ConfigException {
        Section section = gateway.section("web_identity");
        Map<String, Issuer> issuers = new LinkedHashMap<>();
        for (Section one : section.list("issuers")) {
            Issuer issuer = issuer(one);
            if (issuers.putIfAbsent(issuer.issuer(), issuer) != null) {
                throw one.problem("issuer", "'" + issuer.issuer() + "' appears twice");
            }
        }
        WebIdentity webIdentity = new WebIdentity(file(section, "session_keys"), issuers);
        section.close();
        if (issuers.isEmpty() && webIdentity.sessionKeys() != null) {
            throw section.missing("issuers", "is missing; name whose tokens are exchanged");
        }
        return issuers.isEmpty() ? null : webIdentity;
    }

    private Issuer issuer(Section section) throws ConfigException {
        URI jwks = jwks(section);
        Issuer issuer = new Issuer(section.requireText("issuer"), audiences(section), jwks,
                file(section, "jwks_file"), file(section, "ca"), file(section, "token_file"),
                section.texts("token_hosts"), algorithms(section),
                section.duration("clock_skew", "60s"),
                section.flag("single_use", false));
        section.close();
        if (issuer.clockSkew().compareTo(MAX_SKEW) > 0) {
            throw section.problem("clock_skew", "must be at most 5m");
        }
        if (jwks != null && issuer.jwksFile() != null) {
            throw section.problem("jwks_file", "stands instead of jwks");
        }
        if (!issuer.tokenHosts().isEmpty() && issuer.tokenFile() == null) {
            throw section.problem("token_hosts", "stands beside token_file: it says which other"
                    + " hosts may be shown that token");
        }
        if (jwks == null && issuer.jwksFile() == null) {
            requireHttps(section, "issuer", issuer.issuer());
        }
        return issuer;
    }

    private static List<String> audiences(Section section) throws ConfigException {
        List<String> audiences = section.texts("audiences");
        if (audiences.isEmpty()) {
            throw section.problem("audiences", "is missing: tokens for other services could be"
                    + " exchanged; name the aud of tokens for this gateway");
        }
        return audiences;
    }

    private static @Nullable URI jwks(Section section) throws ConfigException {
        String text = section.text("jwks");
        return text == null ? null : requireHttps(section, "jwks", text);
    }

    /** Requires https, and http only of this host: whoever answers says which keys to trust. */
    private static URI requireHttps(Section section, String key, String text)
            throws ConfigException {
        try {
            URI uri = new URI(text);
            boolean isHere = "http".equals(uri.getScheme()) && uri.getHost() != null
                    && ListenAddress.isOfThisHost(uri.getHost());
            if (uri.getHost() != null && ("https".equals(uri.getScheme()) || isHere)) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // The message below says what is wrong.
        }
        throw section.problem(key, "'" + text + "' must be an https URL, or name jwks_file");
    }

    private static List<String> algorithms(Section section) throws ConfigException {
        List<String> named = section.texts("algorithms");
        for (String algorithm : named) {
            if (!ALGORITHMS.contains(algorithm)) {
                throw section.problem("algorithms", "'" + algorithm
                        + "' must be RS, PS or ES, and 256, 384 or 512");
            }
        }
        return named.isEmpty() ? List.of("RS256", "ES256") : named;
    }

    private @Nullable Path file(Section section, String key) throws ConfigException {
        String name = section.text(key);
        return name == null ? null : ConfigLoader.existing(folder, section, key, name);
    }
}
