package io.railhead.gateway.identity;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.Section;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads {@code roles:} and {@code revoked:} of {@code credentials.yaml}. */
final class RoleReader {
    /** AWS's characters of a role's name, without its comma and equals sign. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_+.@-]{1,64}");
    private static final Duration SHORTEST = Duration.ofMinutes(15);
    private static final Duration LONGEST = Duration.ofHours(12);

    private final Set<String> issuers;
    private final Set<String> principals;

    /** @param principals the names of static principals, which no role may use */
    RoleReader(Set<String> issuers, Set<String> principals) {
        this.issuers = issuers;
        this.principals = principals;
    }

    Map<String, Role> roles(Section root) throws ConfigException {
        Map<String, Role> roles = new LinkedHashMap<>();
        for (Section section : root.list("roles")) {
            Role role = role(section);
            if (roles.putIfAbsent(role.name(), role) != null) {
                throw section.problem("name", "'" + role.name() + "' appears twice");
            }
        }
        return roles;
    }

    private Role role(Section section) throws ConfigException {
        Role role = new Role(name(section), issuer(section), claims(section),
                template(section, "principal", ""), template(section, "tenant", "default"),
                backend(section), Credentials.gids(section),
                new Role.Permissions(section.flag("rdma_get", true),
                        section.flag("rdma_put", false), section.flag("admin", false)),
                maxSession(section));
        section.close();
        if (!role.principal().paths().containsAll(role.tenant().paths())) {
            throw section.problem("principal", "must name each claim that tenant names: "
                    + "principals of two tenants would have one name");
        }
        return role;
    }

    private String name(Section section) throws ConfigException {
        String name = section.requireText("name");
        if (!NAME.matcher(name).matches() || (name + "/").equals(Role.PREFIX)) {
            throw section.problem("name", "'" + name + "' must be 1 to 64 letters, digits or"
                    + " _+.@-, and not role");
        }
        String prefix = name + "/";
        if (principals.contains(name)
                || principals.stream().anyMatch(other -> other.startsWith(prefix))) {
            throw section.problem("name", "'" + name
                    + "' is a principal's name, or the beginning of one before a slash");
        }
        return name;
    }

    private String issuer(Section section) throws ConfigException {
        String issuer = section.requireText("issuer");
        if (!issuers.contains(issuer)) {
            throw section.problem("issuer", "'" + issuer + "' is none of"
                    + " gateway.web_identity.issuers: " + String.join(", ", issuers));
        }
        return issuer;
    }

    /** A role without conditions could be assumed by whoever has any token of the issuer. */
    private static Map<String, List<String>> claims(Section section) throws ConfigException {
        Map<String, List<String>> claims = new LinkedHashMap<>();
        Section conditions = section.section("claims");
        for (String path : conditions.keys()) {
            claims.put(path, conditions.textOrTexts(path));
        }
        conditions.close();
        if (claims.isEmpty()) {
            throw section.missing("claims", "is missing; name the claims that a token must have,"
                    + " such as sub: \"system:serviceaccount:ml:*\"");
        }
        return claims;
    }

    private static ClaimTemplate template(Section section, String key, String otherwise)
            throws ConfigException {
        try {
            ClaimTemplate template = ClaimTemplate.parse(section.text(key, otherwise));
            if (template.paths().stream().anyMatch(path -> path.startsWith("claim:"))) {
                throw new IllegalArgumentException("'" + template.text()
                        + "' must name claims without claim:, which only policies write");
            }
            return template;
        } catch (IllegalArgumentException e) {
            throw section.problem(key, String.valueOf(e.getMessage()));
        }
    }

    private static BackendCredential backend(Section section) throws ConfigException {
        BackendCredential backend = Credentials.backend(section);
        if (backend == null) {
            throw section.problem("backend_credential", "is missing: no store knows the keys of"
                    + " sessions; name a key pair, or provider: default");
        }
        return backend;
    }

    private static Duration maxSession(Section section) throws ConfigException {
        Duration most = section.duration("max_session", "1h");
        if (most.compareTo(SHORTEST) < 0 || most.compareTo(LONGEST) > 0) {
            throw section.problem("max_session", "must be 15m to 12h");
        }
        return most;
    }

    static List<Revocation> revoked(Section root) throws ConfigException {
        List<Revocation> revoked = new ArrayList<>();
        for (Section section : root.list("revoked")) {
            Revocation one = new Revocation(section.text("role"), section.text("principal"),
                    section.text("subject"), section.text("session"), issuedBefore(section));
            section.close();
            if (section.keys().isEmpty()) {
                throw root.problem("revoked[" + revoked.size() + "]", "must name at least one of"
                        + " role, principal, subject, session and issued_before");
            }
            revoked.add(one);
        }
        return revoked;
    }

    private static @Nullable Instant issuedBefore(Section section) throws ConfigException {
        String text = section.text("issued_before");
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw section.problem("issued_before", "'" + text
                    + "' must be a time such as 2026-11-26T12:00:00Z");
        }
    }
}
