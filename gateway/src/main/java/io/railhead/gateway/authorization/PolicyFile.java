package io.railhead.gateway.authorization;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.FileWatch;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The current content of {@code policy.json}. Any thread; never blocks once loaded. */
public final class PolicyFile implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PolicyFile.class);

    private final FileWatch file;
    private volatile Policy current = Policy.DENIES_ALL;

    private PolicyFile(Path path) throws ConfigException {
        file = new FileWatch("gateway.policy", List.of(path),
                contents -> replace(PolicyReader.read(path, contents.getFirst())));
        file.load();
    }

    /** Reads the file for the first time. Blocks. */
    public static PolicyFile load(Path path) throws ConfigException {
        return new PolicyFile(path);
    }

    private void replace(Policy next) {
        current = next;
        LOG.info("policy: {} statements", next.size());
    }

    Policy current() {
        return current;
    }

    /** Starts looking at the file once a second, on a virtual thread, until closed. */
    public void watch() {
        file.watch();
    }

    /** Sets the listener that learns of each changed file whether it is in force. */
    public void tell(FileWatch.Outcome listener) {
        file.tell(listener);
    }

    /** Looks at the file now. Blocks. */
    public void reload() {
        file.look();
    }

    /**
     * Returns allowed settings that the site should know of, one line each.
     *
     * @param isClaim whether some role names the claim
     */
    public List<String> warnings(Predicate<String> isPrincipal, Predicate<String> isClaim) {
        Stream<String> principals = current.principals()
                .stream()
                .filter(name -> !name.equals("*") && !isPrincipal.test(name))
                .map(name -> "the policy names " + name + ", which is no principal");
        Stream<String> claims = current.claims()
                .stream()
                .filter(path -> !isClaim.test(path))
                .map(path -> "the policy names the claim " + path + ", which no role names:"
                        + " statements with it apply to nobody, a Deny included");
        return Stream.concat(principals, claims).toList();
    }

    @Override
    public void close() {
        file.close();
    }
}
