package io.railhead.os.verbs;

import io.railhead.os.Descriptors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** This process's descriptors of verbs devices, from the kernel's list. */
final class VerbsDescriptors {
    private static final Path OWN = Path.of("/proc/self/fd");
    private static final String DEVICE = "/dev/infiniband/uverbs";
    /** The name of descriptors of a context or a completion channel. */
    private static final String EVENTS = "anon_inode:[infinibandevent]";

    private VerbsDescriptors() {}

    /**
     * Closes the kernel's side of all of them, which destroys everything that was created by them.
     * The numbers stay in use, so that a library which closes them later closes no other file.
     *
     * @return the number of detached descriptors
     */
    static int detachAll() {
        int detached = 0;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(OWN)) {
            for (Path entry : entries) {
                if (isOfDevice(entry)) {
                    Descriptors.detach(Integer.parseInt(entry.getFileName().toString()));
                    detached++;
                }
            }
            return detached;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOfDevice(Path entry) {
        try {
            String target = Files.readSymbolicLink(entry).toString();
            return target.startsWith(DEVICE) || target.equals(EVENTS);
        } catch (IOException e) {
            // The descriptor was closed meanwhile.
            return false;
        }
    }
}
