package io.railhead.gateway.config;

/** A configuration file that cannot be used; its message is one line with file, key and cure. */
public final class ConfigException extends Exception {
    private static final long serialVersionUID = 1L;

    public ConfigException(String line) {
        super(line.replaceAll("\\R+", " "));
    }
}
