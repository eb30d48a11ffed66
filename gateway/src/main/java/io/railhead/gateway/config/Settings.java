package io.railhead.gateway.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of a configuration file, key by key, defaults filled in, for people to read. No key
 * of {@code railhead.yaml} holds a secret; one that came to would be masked here.
 */
final class Settings implements Section.Listener {
    private static final String MASK = "****";
    private static final Set<String> SECRETS = Set.of("secret", "password", "passphrase", "token",
            "secret_key", "session_token", "private_key", "access_key");
    private static final Pattern USER_INFO = Pattern.compile("://[^/@\\s]*@");

    private final Map<String, String> byKey = new LinkedHashMap<>();
    private final List<String> warnings = new ArrayList<>();

    private final Section.Listener next;

    /** @param next hears the same */
    Settings(Section.Listener next) {
        this.next = next;
    }

    @Override
    public void asked(String path, String kind, String otherwise) {
        next.asked(path, kind, otherwise);
    }

    @Override
    public void said(String key, String value) {
        next.said(key, value);
        String name = key.substring(key.lastIndexOf('.') + 1);
        byKey.put(key, SECRETS.contains(name)
                ? MASK
                : USER_INFO.matcher(value).replaceAll("://" + MASK + "@"));
    }

    @Override
    public void retired(String warning) {
        next.retired(warning);
        warnings.add(warning);
    }

    /** One line for each key that has no effect any more. */
    List<String> warnings() {
        return List.copyOf(warnings);
    }

    /** In the order in which they were asked for. */
    Map<String, String> all() {
        return Collections.unmodifiableMap(new LinkedHashMap<>(byKey));
    }
}
