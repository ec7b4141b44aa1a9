import com.alibaba.fastjson2.*;
import java.net.http.*;
import org.bouncycastle.util.encoders.Hex;
import org.tron.trident.core.*;
public class Signer {
  static JSONObject service(String path, String body) throws Exception {
    var request = HttpRequest.newBuilder(java.net.URI.create(System.getenv("WALLET") + path)).header("content-type", "application/json");
    if (body != null) request.POST(HttpRequest.BodyPublishers.ofString(body));
    request.header("authorization", "Bearer " + System.getenv("TOKEN"));
    return JSON.parseObject(HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString()).body()).getJSONObject("data");
  }
  public static void main(String[] arguments) throws Exception {
    JSONObject offer = service("/ledger/payouts/unsigned", null), head = offer.getJSONObject("head");
    var tron = new ApiWrapper("127.0.0.1:9", "127.0.0.1:9", System.getenv("PAYOUT_KEY")); // no node is asked
    var reference = new org.tron.trident.core.transaction.BlockId(Hex.decode(head.getString("hash")), head.getLong("height"));
    tron.enableLocalCreate(reference, System.currentTimeMillis() + 600_000);
    for (JSONObject payout : offer.getJSONArray("list").toList(JSONObject.class)) {
      String to = payout.getString("to"), own = tron.keyPair.toBase58CheckAddress(), usdt = System.getenv("USDT"); // its own settings
      long units = payout.getBigDecimal("amt").movePointRight(6).longValueExact();
      String data = "a9059cbb" + "0".repeat(24) + Hex.toHexString(ApiWrapper.parseAddress(to).toByteArray()).substring(2) + "%064x".formatted(units);
      var made = payout.getIntValue("cuy") == 2 ? tron.triggerContract(own, usdt, data, 0, 0, "", 50_000_000) : tron.transfer(own, to, units);
      String message = Hex.toHexString(tron.signTransaction(made).toByteArray()); // a journal belongs here, before anything leaves
      System.out.println(service("/ledger/payouts/signed", "{\"signed\":[{\"id\":%s,\"transaction\":\"%s\"}]}".formatted(payout.get("id"), message)));
    } } }
