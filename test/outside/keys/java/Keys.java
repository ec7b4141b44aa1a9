import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bitcoinj.base.BitcoinNetwork;
import org.bitcoinj.crypto.ChildNumber;
import org.bitcoinj.crypto.DeterministicKey;
import org.bitcoinj.crypto.HDKeyDerivation;
import org.web3j.crypto.MnemonicUtils;

/** Java's libraries: the addresses of an extended public key, and the wallet of a mnemonic in several spellings. See judge.ts. */
public class Keys {
  static class Given {
    String xpub;
    List<Integer> indices;
    Map<String, String> spellings;
  }

  static DeterministicKey step(DeterministicKey key, int index, boolean isHard) {
    return HDKeyDerivation.deriveChildKey(key, new ChildNumber(index, isHard));
  }

  static String accountOf(byte[] seed) {
    DeterministicKey key = HDKeyDerivation.createMasterPrivateKey(seed);
    for (int index : List.of(44, 195, 0)) key = step(key, index, true);
    return key.serializePubB58(BitcoinNetwork.MAINNET);
  }

  public static void main(String[] arguments) throws Exception {
    Given given = new Gson().fromJson(Files.readString(Path.of(arguments[0])), Given.class);
    DeterministicKey account = DeterministicKey.deserializeB58(given.xpub, BitcoinNetwork.MAINNET);
    List<String> keys = new ArrayList<>();
    for (int index : given.indices)
      keys.add(HexFormat.of().formatHex(step(step(account, 0, false), index, false).getPubKey()));
    Map<String, String> spellings = new LinkedHashMap<>();
    for (Map.Entry<String, String> one : given.spellings.entrySet()) {
      String made = null;
      try {
        made = accountOf(MnemonicUtils.generateSeed(one.getValue(), ""));
      } catch (RuntimeException refused) {
        // The library refuses this spelling, which the judge expects as null.
      }
      spellings.put(one.getKey(), made);
    }
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("library", "bitcoinj 0.17 with web3j's crypto 4.12.3 (Maven)");
    line.put("path", "0, i");
    line.put("keys", keys);
    line.put("spellings", spellings);
    System.out.println(new GsonBuilder().serializeNulls().create().toJson(line));
  }
}
