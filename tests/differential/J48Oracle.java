import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import weka.classifiers.trees.J48;
import weka.core.Instances;
import weka.core.Utils;

/** Answers lines "train.arff TAB test.arff TAB options" with J48's tree and class shares, to the last bit. */
public class J48Oracle {
  static Instances read(String path) throws Exception {
    Instances data = new Instances(new BufferedReader(new FileReader(path)));
    data.setClassIndex(data.numAttributes() - 1);
    return data;
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
    String line;
    while ((line = questions.readLine()) != null) {
      String[] fields = line.split("\t", -1);
      try {
        System.out.print(answer(fields));
      } catch (Throwable problem) {
        System.out.print("@failed " + problem + "\n@end\n");
      }
      System.out.flush();
    }
  }

  static String answer(String[] fields) throws Exception {
    J48 tree = new J48();
    tree.setOptions(Utils.splitOptions(fields[2]));
    tree.buildClassifier(read(fields[0]));
    StringBuilder answer = new StringBuilder(tree.toString()).append("\n@shares\n");
    Instances test = read(fields[1]);
    for (int i = 0; i < test.numInstances(); i++) {
      double[] shares = tree.distributionForInstance(test.instance(i));
      for (int c = 0; c < shares.length; c++) {
        answer.append(c == 0 ? "" : " ").append(Double.toHexString(shares[c]));
      }
      answer.append("\n");
    }
    return answer.append("@end\n").toString();
  }
}
