package io.railhead.gateway.authorization;

import io.railhead.gateway.s3.Query;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The source of a copy in {@code x-amz-copy-source}: {@code [/]bucket/key[?versionId=id]},
 * percent-encoded. Stores differ in whether a plus sign is a space, so both readings must be
 * allowed.
 */
final class CopySource {
    private static final String VERSION = "?versionId=";

    private CopySource() {}

    /** Returns null if stores could read the header differently. */
    static @Nullable List<Access> read(String header) {
        int version = header.indexOf(VERSION);
        String path = version < 0 ? header : header.substring(0, version);
        // Some stores parse the header as a URL, which can have a scheme and a fragment.
        boolean plain = path.indexOf('?') < 0 && header.indexOf('#') < 0
                && header.indexOf('?', version + 1) < 0;
        if (!plain) {
            return null;
        }
        S3Action action = version < 0 ? S3Action.GET_OBJECT : S3Action.GET_OBJECT_VERSION;
        Set<String> readings = new LinkedHashSet<>();
        try {
            readings.add(Query.decode(path));
            readings.add(Query.decode(path.replace('+', ' ')));
        } catch (IllegalArgumentException e) {
            return null;
        }
        List<Access> wanted = new ArrayList<>();
        for (String reading : readings) {
            String name = reading.startsWith("/") ? reading.substring(1) : reading;
            int slash = name.indexOf('/');
            if (slash <= 0 || slash == name.length() - 1 || name.lastIndexOf(':', slash) >= 0) {
                return null;
            }
            wanted.add(Access.toObject(action, name.substring(0, slash),
                    name.substring(slash + 1)));
        }
        return wanted;
    }
}
