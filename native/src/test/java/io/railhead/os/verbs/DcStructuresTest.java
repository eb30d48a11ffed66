package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.IbvQP;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every byte of the attributes against the same ones initialised by the headers, which are read
 * from the compiler's object file, so that no machine of its kind is needed.
 */
final class DcStructuresTest {
    private static final long DOMAIN = 0x1122_3344_5566_7788L;
    private static final long QUEUE = 0x2233_4455_6677_8899L;
    private static final long RECEIVES = 0x3344_5566_7788_99aaL;
    private static final DcInitiator.Path PATH = new DcInitiator.Path(254, 200, true, 15, 0xfedc,
            4096, 31, 6, 5, 255);
    private static final DcTarget.Attributes TARGET = new DcTarget.Attributes(
            0xffee_ddcc_bbaa_9988L, 254, 200, true, 255, 0xe1, 0xfedc, 256, 31);
    private static final AddressVector FAR = new AddressVector(254, 200, 0x2001_0db8_8182_8384L,
            0xf0f1_f2f3_f4f5_f6f7L, 0xfedc, true, 255, 0xe1, 15, 0xabcde);
    private static final AddressVector NEAR = new AddressVector(1, 0, 0, 0, 17, false, 0, 0, 0,
            0);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"gcc", "aarch64-linux-gnu-gcc"})
    void theAttributesAreThoseOfTheHeaders(String compiler) throws Exception {
        assertThat(ours()).isEqualTo(compiled(compiler));
    }

    /** The check above must be able to fail. */
    @Test
    void aWrongByteIsFound() throws Exception {
        Map<String, String> theirs = compiled("gcc");
        theirs.replaceAll((_, bytes) -> bytes.replaceFirst("02", "03"));
        assertThat(ours()).isNotEqualTo(theirs);
    }

    private static Map<String, String> ours() {
        try (Arena arena = Arena.ofConfined()) {
            Map<String, MemorySegment> built = new TreeMap<>();
            built.put("initiator", DcStructures.initiator(DOMAIN, QUEUE,
                    new DcInitiator.Capacity(129, 7), arena));
            built.put("target", DcStructures.target(DOMAIN, QUEUE, RECEIVES, arena));
            built.put("dci", DcStructures.dci(arena));
            built.put("dct", DcStructures.dct(TARGET.key(), arena));
            built.put("receives", DcStructures.receives(arena));
            built.put("address_vector", DcStructures.addressVector(FAR, arena));
            built.put("local_address_vector", DcStructures.addressVector(NEAR, arena));
            built.put("reset", DcStructures.state(IbvQP.IBV_QPS_RESET, arena));
            built.put("initiator_init", DcStructures.initiatorInit(PATH, arena));
            built.put("initiator_rtr", DcStructures.initiatorRtr(PATH, arena));
            built.put("initiator_rts", DcStructures.initiatorRts(PATH, arena));
            built.put("target_init", DcStructures.targetInit(TARGET, arena));
            built.put("target_rtr", DcStructures.targetRtr(TARGET, arena));
            built.put("masks", arena.allocateFrom(JAVA_INT,
                    DcStructures.INITIATOR_INIT, DcStructures.INITIATOR_RTR,
                    DcStructures.INITIATOR_RTS, DcStructures.TARGET_INIT,
                    DcStructures.TARGET_RTR));
            Map<String, String> bytes = new TreeMap<>();
            built.forEach((name, structure) -> bytes.put(name, hex(structure)));
            return bytes;
        }
    }

    private Map<String, String> compiled(String compiler) throws Exception {
        RdmaCoreHeaders headers = new RdmaCoreHeaders(folder);
        Path object = folder.resolve("attributes.o");
        assertThat(headers.compile(compiler, headers.source("dc_attributes.c"), "-Wall", "-c",
                "-o", object.toString())).isEmpty();
        return sections(MemorySegment.ofArray(Files.readAllBytes(object)), "dc.");
    }

    /**
     * The sections of a little-endian ELF64 object with a prefix, which is left out, as hexadecimal
     * digits.
     */
    private static Map<String, String> sections(MemorySegment elf, String prefix) {
        long headers = elf.get(JAVA_LONG_UNALIGNED, 0x28);
        int size = elf.get(JAVA_SHORT_UNALIGNED, 0x3a);
        int nameSection = elf.get(JAVA_SHORT_UNALIGNED, 0x3e);
        long names = elf.get(JAVA_LONG_UNALIGNED, headers + (long) nameSection * size + 0x18);
        Map<String, String> found = new TreeMap<>();
        for (int i = elf.get(JAVA_SHORT_UNALIGNED, 0x3c) - 1; i >= 0; i--) {
            long header = headers + (long) i * size;
            String name = elf.getString(names + elf.get(JAVA_INT_UNALIGNED, header));
            if (name.startsWith(prefix)) {
                MemorySegment content = elf.asSlice(elf.get(JAVA_LONG_UNALIGNED, header + 0x18),
                        elf.get(JAVA_LONG_UNALIGNED, header + 0x20));
                found.put(name.substring(prefix.length()), hex(content));
            }
        }
        return found;
    }

    private static String hex(MemorySegment bytes) {
        return HexFormat.of().formatHex(bytes.toArray(JAVA_BYTE));
    }
}
