package io.railhead.gateway.authorization;

import io.railhead.backend.Headers;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A dry run of a policy file: nothing is asked of a gateway or a store. Immutable. */
public final class PolicyTrial {
    private final Policy policy;

    private PolicyTrial(Policy policy) {
        this.policy = policy;
    }

    /**
     * The policy's decision on one action that a request asks for.
     *
     * @param action such as {@code s3:GetObject}
     * @param resource {@code bucket/key}, {@code bucket}, or "" for the service
     * @param statement the deciding one; null where none is about it, which denies
     */
    public record Decision(String action, String resource, boolean allowed,
            @Nullable String statement) {}

    /** Reads the file. Blocks. */
    public static PolicyTrial of(Path file) throws ConfigException, IOException {
        return new PolicyTrial(PolicyReader.read(file, Files.readAllBytes(file)));
    }

    /**
     * Decides each action that a request asks for. Where a store could read a key in two ways, both
     * are decided.
     *
     * @param rawPath percent-encoded, {@code /BUCKET/KEY}
     * @param rawQuery without the question mark; null if there is none
     * @return null for a request that cannot be judged, which is denied; empty for one whose body
     *         names the objects, each of which is judged by itself
     * @throws IllegalArgumentException for a path or a query that cannot be read
     */
    public @Nullable List<Decision> decide(RequestSource source, String method, String rawPath,
            @Nullable String rawQuery, Headers headers) {
        RequestHead head = new RequestHead(method, rawPath, rawQuery, headers);
        List<Access> wanted = RequestedAccess.of(head, Address.of(rawPath, null, List.of()),
                Query.parse(rawQuery), source.principal().isEmpty());
        if (wanted == null || wanted.stream().anyMatch(Access::isAmbiguous)) {
            return null;
        }
        List<Decision> decisions = new ArrayList<>();
        for (Access access : wanted) {
            decisions.add(decide(source, access));
            Access asPath = access.asPath();
            if (asPath != null) {
                decisions.add(decide(source, asPath));
            }
        }
        return decisions;
    }

    private Decision decide(RequestSource source, Access access) {
        Statement deciding = policy.findDeciding(source, access);
        return new Decision(access.action().policyName(),
                access.key() == null ? access.bucket() : access.bucket() + '/' + access.key(),
                deciding != null && deciding.allows(), deciding == null ? null : deciding.name());
    }
}
