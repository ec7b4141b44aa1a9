import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.bouncycastle.util.encoders.Hex;
import org.tron.trident.abi.datatypes.Address;
import org.tron.trident.abi.datatypes.Bool;
import org.tron.trident.abi.datatypes.Function;
import org.tron.trident.abi.datatypes.generated.Uint256;
import org.tron.trident.abi.FunctionEncoder;
import org.tron.trident.abi.TypeReference;
import org.tron.trident.core.ApiWrapper;
import org.tron.trident.core.transaction.BlockId;
import org.tron.trident.proto.Response.TransactionExtention;

/** trident: with `enableLocalCreate` it makes the bytes itself. Without it a node would make them. See judge.ts. */
public class Sign {
  static ApiWrapper wrapper;

  static void show(String what, TransactionExtention made) {
    System.out.println(what + "\t" + Hex.toHexString(wrapper.signTransaction(made).toByteArray()));
  }

  static TransactionExtention token(JSONObject given, long feeLimit) throws Exception {
    Function transfer = new Function("transfer",
        List.of(new Address(given.getString("to")), new Uint256(given.getLong("units"))),
        List.of(new TypeReference<Bool>() {}));
    return wrapper.triggerContract(given.getString("from"), given.getString("contract"),
        FunctionEncoder.encode(transfer), 0, 0, "", feeLimit);
  }

  public static void main(String[] arguments) throws Exception {
    JSONObject given = JSON.parseObject(Files.readString(Path.of(arguments[0])));
    JSONObject head = given.getJSONObject("head");
    wrapper = new ApiWrapper("127.0.0.1:9", "127.0.0.1:9", given.getString("privateKey"));
    BlockId reference = new BlockId(Hex.decode(head.getString("hash")), head.getLong("height"));
    wrapper.enableLocalCreate(reference, given.getLong("expiration"));
    show("TRX as below", wrapper.transfer(given.getString("from"), given.getString("to"), given.getLong("sun")));
    show("token as below", token(given, given.getLong("feeLimit")));
    wrapper.close();
  }
}
