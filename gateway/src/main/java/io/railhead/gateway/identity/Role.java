package io.railhead.gateway.identity;

import io.railhead.gateway.config.Globs;
import java.net.InetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * One entry of {@code roles:} in {@code credentials.yaml}: who may assume it, and the principal
 * that a session of it acts as.
 *
 * @param issuer the {@code iss} of tokens that may assume it
 * @param claims by path the patterns, one of which a value of the claim must match
 * @param principal tells the role's principals apart, whose names are {@code ROLE/} and this; "" if
 *            all sessions are one principal, which has the role's name
 * @param tenant the principal's tenant
 * @param maxSession the longest life of a session
 */
public record Role(String name, String issuer, Map<String, List<String>> claims,
        ClaimTemplate principal, ClaimTemplate tenant, BackendCredential backend,
        Set<InetAddress> gids, Permissions permissions, Duration maxSession) {
    /** The beginning of roles' names where a policy or a log names principals too. */
    public static final String PREFIX = "role/";
    /**
     * The characters of a claim's value that may stand in a name: none that logs, metrics, or
     * patterns give a meaning.
     */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:@-]{1,128}");

    /** The permissions of the role's principals at this gateway. */
    record Permissions(boolean rdmaGet, boolean rdmaPut, boolean admin) {}

    public Role {
        claims = Map.copyOf(claims);
        gids = Set.copyOf(gids);
    }

    /**
     * Returns the claims that the role names, each with the value that satisfies it.
     *
     * @throws ClaimException if a claim is absent, or does not satisfy the role
     */
    public Map<String, String> require(Claims token) throws ClaimException {
        Map<String, String> found = new LinkedHashMap<>();
        for (Map.Entry<String, List<String>> wanted : claims.entrySet()) {
            found.put(wanted.getKey(), token.values(wanted.getKey())
                    .stream()
                    .filter(value -> isAnyOf(wanted.getValue(), value))
                    .findFirst()
                    .orElseThrow(() -> new ClaimException("the token's claim " + wanted.getKey()
                            + " does not satisfy the role " + name)));
        }
        for (ClaimTemplate template : List.of(principal, tenant)) {
            for (String path : template.paths()) {
                found.put(path, single(path, token));
            }
            String ambiguous = template.ambiguous(found);
            if (ambiguous != null) {
                throw new ClaimException("the token's claim " + ambiguous + " has the character"
                        + " that parts it from the next one in names of role " + name);
            }
        }
        return found;
    }

    /** Requires one value: of a list, each could name another principal. */
    private String single(String path, Claims token) throws ClaimException {
        List<String> values = token.values(path);
        if (values.size() != 1) {
            throw new ClaimException("the role " + name + " needs the token's claim " + path
                    + " with one value, and it has " + values.size());
        }
        String value = values.getFirst();
        if (!NAME.matcher(value).matches()) {
            throw new ClaimException("the token's claim " + path
                    + " has characters that a principal's name must not have");
        }
        return value;
    }

    boolean names(String path) {
        return claims.containsKey(path) || principal.paths().contains(path)
                || tenant.paths().contains(path);
    }

    /** Returns whether a session has this role's issuer, and a life that the role gives. */
    boolean gives(RoleSession session) {
        return session.issuer() == RoleSession.hash(issuer)
                && !session.expiresAt().isAfter(session.issuedAt().plus(maxSession));
    }

    private static boolean isAnyOf(List<String> patterns, String value) {
        return patterns.stream().anyMatch(pattern -> Globs.matches(pattern, value));
    }

    /**
     * Returns the principal of a session.
     *
     * @param claims of the session
     * @throws ClaimException if they do not satisfy the role as it is now
     */
    public Principal principal(Map<String, String> claims) throws ClaimException {
        Map<String, String> found = require(new Claims(claims));
        String member = principal.resolve(found);
        return new Principal(member.isEmpty() ? name : name + "/" + member,
                tenant.resolve(found), List.of(), backend,
                gids, permissions.rdmaGet(), permissions.rdmaPut(), permissions.admin());
    }

    /** Returns whether one of its sessions could act as the principal of this name. */
    boolean mayBe(String other) {
        return principal.text().isEmpty()
                ? other.equals(name)
                : other.startsWith(name + "/");
    }
}
